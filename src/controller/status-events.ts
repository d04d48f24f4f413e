import { isBackendPolicyKind } from '../core/graph/backends/backend-policies.ts';
import { shadowed } from '../core/rules/matches/match-taken.ts';
import { fieldIgnored } from '../core/rules/support/feature-without-effect.ts';
import { partlyServed } from '../core/rules/parents/hostname-not-permitted.ts';
import { recordOf, recordsOf, textOf, type JsonRecord } from '../core/text/record.ts';
import type { StatusEntry } from './merge-status.ts';
import type { EventNote, WireObject } from './ports.ts';
import { parentGroupKind } from '../core/semantics/intended.ts';

/**
 * Events about a status that was written. A problem gets an Event when it begins, and once more for each generation of the object
 * that still has it. A success gets an Event when it begins, but an attachment of a route only after a problem: a cluster has thousands,
 * and each Event is one more write. Conditions that are unchanged or Unknown get none. Equal conditions of several parents share an
 * Event.
 *
 * @param before the object as it was, with its former status
 */
export function statusEvents(
  kind: string,
  before: WireObject,
  status: unknown,
  controllerName: string,
): readonly EventNote[] {
  const former = groupsOf(before['status'], controllerName);
  const isNews = isRouteStatus(status) ? afterProblem : beginning;
  const news = [...groupsOf(status, controllerName)].flatMap(([place, conditions]) => {
    const known = byType(former.get(place) ?? []);
    return conditions
      .filter((condition) => !isConsequence(condition, conditions))
      .flatMap((condition) => noticeOf(condition, known.get(condition['type']) ?? {}, isNews))
      .map((notice) => ({ place, notice }));
  });
  return [...Map.groupBy(news, ({ notice }) => JSON.stringify(notice)).values()].flatMap((equal) =>
    equal.slice(0, 1).map(({ notice: { type, reason, statement } }) => ({
      type,
      reason,
      action: 'Reconcile',
      note: `${placesOf(equal.map(({ place }) => place))}${statement}`,
      regarding: regarding(kind, before),
    })),
  );
}

/**
 * Events about entries that do not fit into an object's status. For a policy the event is about the Gateway that is left out
 * (PolicyStatus.ancestors). For a parent it is about the route.
 */
export function statusFullEvents(
  kind: string,
  object: WireObject,
  entries: readonly StatusEntry[],
): readonly EventNote[] {
  const { name, namespace = '' } = object.metadata;
  return entries.map(({ ref, conditions }) => {
    const states = conditions
      .map(({ type, status, message }) =>
        message === '' ? `${type} is ${status}.` : `${type} is ${status}: ${message}`,
      )
      .join(' ');
    const frame = { type: 'Warning', reason: 'StatusFull', action: 'Reconcile' } as const;
    return isBackendPolicyKind(kind)
      ? {
          ...frame,
          regarding: { apiVersion: `${ref.group}/v1`, kind: ref.kind, namespace: ref.namespace, name: ref.name },
          note: `The status of ${kind} "${namespace}/${name}" is full and has no entry for this Gateway: ${states}`,
        }
      : {
          ...frame,
          regarding: regarding(kind, object),
          note: `The status is full and has no entry for ${placeOf({ ...ref })}: ${states}`,
        };
  });
}

/** A reference to the object that an event is about. */
export function regarding(kind: string, { apiVersion = '', metadata }: WireObject): EventNote['regarding'] {
  const { name, namespace, uid } = metadata;
  return { apiVersion, kind, name, ...(namespace !== undefined && { namespace }), ...(uid !== undefined && { uid }) };
}

/** Conditions whose first True gets an Event. */
const successes: ReadonlySet<unknown> = new Set(['Accepted', 'Programmed']);
/** Conditions with negative polarity: True means a problem. */
const negative: ReadonlySet<unknown> = new Set([
  'PartiallyInvalid',
  shadowed.condition,
  partlyServed.condition,
  fieldIgnored.condition,
  'OverlappingTLSConfig',
  'InsecureFrontendValidationMode',
]);
const reported: ReadonlySet<unknown> = new Set([...successes, ...negative, 'ResolvedRefs', 'SupportedVersion']);

interface Notice {
  readonly type: EventNote['type'];
  readonly reason: string;
  /** The condition in words. */
  readonly statement: string;
}

/** Whether a condition that is good, and was not before, gets an Event. */
type IsNews = (type: unknown, before: JsonRecord) => boolean;

const afterProblem: IsNews = (_type, before) => before['status'] === 'False';
const beginning: IsNews = (type, before) => successes.has(type) || afterProblem(type, before);

function isRouteStatus(status: unknown): boolean {
  return recordOf(status)['parents'] !== undefined;
}

function noticeOf(
  { type, status, reason, message, observedGeneration }: JsonRecord,
  before: JsonRecord,
  isNews: IsNews,
): readonly Notice[] {
  if (!reported.has(type) || status === 'Unknown') return [];
  const isGood = (status === 'True') !== negative.has(type) && reason === type;
  const isSame = before['status'] === status && before['reason'] === reason;
  if (isSame && (isGood || before['observedGeneration'] === observedGeneration)) return [];
  if (isGood && !isNews(type, before)) return [];
  const statement = `${textOf(type)} is ${textOf(status)}`;
  return [
    {
      type: isGood ? 'Normal' : 'Warning',
      reason: textOf(reason),
      statement: message === '' ? `${statement}.` : `${statement}: ${textOf(message)}`,
    },
  ];
}

/** Whether a condition only repeats that the object is not accepted. */
function isConsequence({ type, status, reason }: JsonRecord, others: readonly JsonRecord[]): boolean {
  const accepted = others.find((other) => other['type'] === 'Accepted');
  return (
    type === 'Programmed' &&
    status === 'False' &&
    accepted?.['status'] === 'False' &&
    (reason === 'Invalid' || reason === accepted['reason'])
  );
}

/** Maximum number of parents that an Event lists. */
const shown = 3;

function placesOf(places: readonly string[]): string {
  const named = places.filter((place) => place !== '');
  if (named.length === 0) return '';
  const more = named.length > shown ? ` and ${named.length - shown} more` : '';
  return `${named.slice(0, shown).join(', ')}${more}: `;
}

/**
 * Conditions by location, in words: the object's own (`''`), those of each of our entries, and those of listeners that its own do not
 * summarize.
 */
function groupsOf(status: unknown, controllerName: string): ReadonlyMap<string, readonly JsonRecord[]> {
  const { conditions, parents, ancestors, listeners } = recordOf(status);
  const own = recordsOf(conditions);
  const entries = [...recordsOf(parents), ...recordsOf(ancestors)].filter(
    (entry) => entry['controllerName'] === controllerName,
  );
  return new Map([
    ['', own],
    ...entries.map(
      (entry) =>
        [placeOf(recordOf(entry['parentRef'] ?? entry['ancestorRef'])), recordsOf(entry['conditions'])] as const,
    ),
    ...recordsOf(listeners).map(
      (listener) =>
        [
          `Listener ${textOf(listener['name'])}`,
          recordsOf(listener['conditions']).filter(
            ({ type }) => ofListeners.has(type) && !own.some((condition) => condition['type'] === type),
          ),
        ] as const,
    ),
  ]);
}

/** Conditions of listeners. Accepted and Programmed of their owner summarize the others. */
const ofListeners: ReadonlySet<unknown> = new Set(['ResolvedRefs', 'OverlappingTLSConfig']);

function placeOf({ kind, namespace, name, sectionName, port }: JsonRecord): string {
  const where = typeof namespace === 'string' ? `${namespace}/` : '';
  const section = typeof sectionName === 'string' ? ` section ${sectionName}` : '';
  return `${typeof kind === 'string' ? kind : parentGroupKind({}).kind} ${where}${textOf(name)}${section}${typeof port === 'number' ? ` port ${port}` : ''}`;
}

function byType(conditions: readonly JsonRecord[]): ReadonlyMap<unknown, JsonRecord> {
  return new Map(conditions.map((condition) => [condition['type'], condition]));
}
