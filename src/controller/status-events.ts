import { isRecord, listOf, recordOf, type JsonRecord } from '../core/text/record.ts';
import type { StatusEntry } from './merge-status.ts';
import type { EventNote, WireObject } from './ports.ts';

/**
 * Events about a status that was written: accepted or refused, attached or not, and changes of that. None for conditions that
 * are unchanged or Unknown.
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
  return [...groupsOf(status, controllerName)].flatMap(([place, conditions]) => {
    const known = byType(former.get(place) ?? []);
    return conditions
      .flatMap((condition) => eventOf(condition, known.get(condition['type']) ?? {}, place))
      .map((note) => ({ ...note, regarding: regarding(kind, before) }));
  });
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
    const told = conditions
      .map(({ type, status, message }) =>
        message === '' ? `${type} is ${status}.` : `${type} is ${status}: ${message}`,
      )
      .join(' ');
    const frame = { type: 'Warning', reason: 'StatusFull', action: 'Reconcile' } as const;
    return kind === 'BackendTLSPolicy'
      ? {
          ...frame,
          regarding: { apiVersion: `${ref.group}/v1`, kind: ref.kind, namespace: ref.namespace, name: ref.name },
          note: `The status of ${kind} "${namespace}/${name}" is full and has no entry for this Gateway: ${told}`,
        }
      : {
          ...frame,
          regarding: regarding(kind, object),
          note: `The status is full and has no entry for ${placeOf({ ...ref })}: ${told}`,
        };
  });
}

/** A reference to the object that an event is about. */
export function regarding(kind: string, { apiVersion = '', metadata }: WireObject): EventNote['regarding'] {
  const { name, namespace, uid } = metadata;
  return { apiVersion, kind, name, ...(namespace !== undefined && { namespace }), ...(uid !== undefined && { uid }) };
}

/** Conditions for which a first True is worth an event. */
const news: ReadonlySet<unknown> = new Set(['Accepted', 'Programmed']);
/** Conditions with negative polarity: True means a problem. */
const negative: ReadonlySet<unknown> = new Set(['PartiallyInvalid']);
const told: ReadonlySet<unknown> = new Set([...news, ...negative, 'ResolvedRefs']);

function eventOf(
  { type, status, reason, message }: JsonRecord,
  before: JsonRecord,
  place: string,
): readonly Omit<EventNote, 'regarding'>[] {
  if (!told.has(type) || status === 'Unknown') return [];
  if (before['status'] === status && before['reason'] === reason) return [];
  const isGood = (status === 'True') !== negative.has(type) && reason === type;
  if (isGood && !news.has(type) && before['status'] !== 'False') return [];
  const what = `${place}${stringOf(type)} is ${stringOf(status)}`;
  return [
    {
      type: isGood ? 'Normal' : 'Warning',
      reason: stringOf(reason),
      action: 'Reconcile',
      note: message === '' ? `${what}.` : `${what}: ${stringOf(message)}`,
    },
  ];
}

/** Conditions by location, in words: the object's own (`''`), and those of each of our entries. */
function groupsOf(status: unknown, controllerName: string): ReadonlyMap<string, readonly JsonRecord[]> {
  const { conditions, parents, ancestors } = recordOf(status);
  const entries = [...listOf(parents), ...listOf(ancestors)]
    .filter(isRecord)
    .filter((entry) => entry['controllerName'] === controllerName);
  return new Map([
    ['', listOf(conditions).filter(isRecord)],
    ...entries.map(
      (entry) =>
        [
          `${placeOf(recordOf(entry['parentRef'] ?? entry['ancestorRef']))}: `,
          listOf(entry['conditions']).filter(isRecord),
        ] as const,
    ),
  ]);
}

function placeOf({ kind, namespace, name, sectionName, port }: JsonRecord): string {
  const where = typeof namespace === 'string' ? `${namespace}/` : '';
  const section = typeof sectionName === 'string' ? ` section ${sectionName}` : '';
  return `${typeof kind === 'string' ? kind : 'Gateway'} ${where}${stringOf(name)}${section}${typeof port === 'number' ? ` port ${port}` : ''}`;
}

/** A stored status may hold any JSON, including values that cannot be converted to text. */
function stringOf(json: unknown): string {
  return typeof json === 'string' ? json : '';
}

function byType(conditions: readonly JsonRecord[]): ReadonlyMap<unknown, JsonRecord> {
  return new Map(conditions.map((condition) => [condition['type'], condition]));
}
