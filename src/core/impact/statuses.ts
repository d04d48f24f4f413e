import { keyOf } from '../incremental/key.ts';
import { describeRef, refOfKey } from '../resources/reference.ts';
import { partlyShadowed } from '../rules/matches/requests-taken.ts';
import type { Condition } from '../status/conditions.ts';
import type { OwnStatus } from '../status/emit.ts';
import { effectOf, type Effect } from './effect.ts';

/** A condition that a change sets, removes or flips. */
export interface StatusChange {
  /** The object, such as `HTTPRoute shop/store`. */
  readonly object: string;
  /**
   * The part of its status: `listener http`, `parent infra/gateway`, `parent ListenerSet infra/set`, `ancestor infra/gateway`,
   * or `''` for the object as a whole.
   */
  readonly part: string;
  /** The type of the condition. */
  readonly condition: string;
  /** `undefined` if the condition did not exist. */
  readonly before: ConditionState | undefined;
  /** `undefined` if the condition no longer exists. */
  readonly after: ConditionState | undefined;
  readonly effect: Effect;
}

export type ConditionState = Pick<Condition, 'status' | 'reason' | 'message'>;

/** Conditions for which True means success. For all others, True reports a problem. */
const positive: ReadonlySet<string> = new Set(['Accepted', 'Programmed', 'ResolvedRefs', 'SupportedVersion']);

/**
 * Compares the statuses of all objects before and after a change, condition by condition. A condition has changed if its status
 * or reason differs.
 *
 * @param before the statuses by `kind/namespace/name`
 * @param after the statuses after the change, by `kind/namespace/name`
 * @param edited the objects that the change creates or deletes, by `kind/namespace/name`. A deleted object has no status to
 * report, and a created one is reported only if it does not work.
 */
export function compareStatuses(
  before: ReadonlyMap<string, OwnStatus>,
  after: ReadonlyMap<string, OwnStatus>,
  edited: EditedObjects,
): readonly StatusChange[] {
  const keys = [...new Set([...before.keys(), ...after.keys()])].filter((key) => !edited.deleted.has(key)).sort();
  return keys.flatMap((key) => {
    if (before.get(key) === after.get(key)) return [];
    const changes = changesOf(key, before.get(key), after.get(key));
    return edited.created.has(key)
      ? changes
          .filter(({ effect }) => effect !== 'recovered')
          .map((change) => ({ ...change, effect: 'changed' as const }))
      : changes;
  });
}

/** Objects that a change creates or deletes, by `kind/namespace/name`. */
export interface EditedObjects {
  readonly created: ReadonlySet<string>;
  readonly deleted: ReadonlySet<string>;
}

function changesOf(key: string, before: OwnStatus | undefined, after: OwnStatus | undefined): readonly StatusChange[] {
  const object = describeRef(refOfKey(key));
  const [former, present] = [statesOf(before), statesOf(after)];
  return [...new Set([...former.keys(), ...present.keys()])].flatMap((id): readonly StatusChange[] => {
    const [was, is] = [former.get(id), present.get(id)];
    if (was?.state.status === is?.state.status && was?.state.reason === is?.state.reason) return [];
    const { part, type } = was ?? is ?? { part: '', type: '' };
    const change = { object, part, condition: type, before: was?.state, after: is?.state };
    return [
      {
        ...change,
        effect: effectOf(
          works(type, was?.state, hasPart(former, part)),
          works(type, is?.state, hasPart(present, part)),
        ),
      },
    ];
  });
}

function hasPart(states: ReadonlyMap<string, PlacedState>, part: string): boolean {
  return [...states.values()].some((state) => state.part === part);
}

/** A problem does not count as solved if it disappears together with its part of the status. */
function works(type: string, state: ConditionState | undefined, exists: boolean): boolean {
  if (positive.has(type)) return state?.status === 'True';
  // The match still gets its other requests.
  return exists && (state?.status !== 'True' || state.reason === partlyShadowed.reason);
}

interface PlacedState {
  readonly part: string;
  readonly type: string;
  readonly state: ConditionState;
}

function statesOf(status: OwnStatus | undefined): ReadonlyMap<string, PlacedState> {
  const states = new Map<string, PlacedState>();
  const add = (part: string, conditions: readonly Condition[]): void => {
    for (const { type, status: value, reason, message } of conditions)
      states.set(keyOf([part, type]), { part, type, state: { status: value, reason, message } });
  };
  if (status === undefined) return states;
  if ('conditions' in status) add('', status.conditions);
  if ('listeners' in status) for (const { name, conditions } of status.listeners) add(`listener ${name}`, conditions);
  if ('parents' in status)
    for (const { parentRef, conditions } of status.parents) add(`parent ${parentOf(parentRef)}`, conditions);
  if ('ancestors' in status)
    for (const { ancestorRef, conditions } of status.ancestors) add(`ancestor ${parentOf(ancestorRef)}`, conditions);
  return states;
}

interface Parent {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly sectionName?: string | undefined;
  readonly port?: number | undefined;
}

/** Includes the kind unless it is Gateway, because a ListenerSet and a Gateway may have the same name. */
function parentOf({ kind, namespace, name, sectionName, port }: Parent): string {
  return `${kind === 'Gateway' ? '' : `${kind} `}${namespace}/${name}${sectionName === undefined ? '' : `/${sectionName}`}${port === undefined ? '' : `:${port}`}`;
}
