import { isRecord, recordOf } from '../core/text/record.ts';
import type { ApiClient } from './client.ts';
import type { Clock } from '../time/clock.ts';
import { createDeadline } from './deadline.ts';
import { apiError, ProtocolError } from './errors.ts';
import { acceptFor, selectedNamespace, selectors, type Selection } from './list.ts';
import { isKubernetesObject, pathOf, type KubernetesObject } from './object.ts';
import type { ReadingPace } from './reading-pace.ts';

/** One line of a watch. A bookmark only advances the resourceVersion. */
export interface WatchEvent {
  readonly type: 'upsert' | 'delete' | 'bookmark';
  readonly object: KubernetesObject;
}

/** Minimum seconds after which the server ends a watch. The maximum is twice as many, so that watches do not end together. */
const shortestWatch = 240;
/**
 * Milliseconds without a line after which a watch counts as dead: bookmarks arrive every minute. A list is due then, because a
 * server that was restored from a backup sends nothing about versions that it has not reached yet.
 */
const longestSilence = 180_000;

/**
 * Yields the changes of a selection after `resourceVersion`, in batches, until the server ends the watch after some minutes.
 * The first batch is empty: the server has started to respond.
 *
 * @throws ApiError with status 410 if the server no longer knows that version; as `ApiClient.stream` does; ProtocolError after a
 *   long silence. All batches before the error are complete.
 */
export async function* watchFrom(
  { client, clock, selection, pace }: WatchSubject,
  resourceVersion: string,
  signal: AbortSignal,
): AsyncGenerator<readonly WatchEvent[], void, void> {
  const silence = createDeadline(
    clock,
    longestSilence,
    () => new ProtocolError(`nothing was heard from the watch for ${longestSilence} ms`),
    signal,
  );
  const lines = client.stream({
    path: pathOf(selection.type, selectedNamespace(selection)),
    query: {
      ...selectors(selection),
      resourceVersion,
      watch: true,
      allowWatchBookmarks: true,
      timeoutSeconds: Math.round(shortestWatch * (1 + clock.random())),
    },
    accept: acceptFor(selection, 'PartialObjectMetadata'),
    signal: silence.signal,
    pace,
  });
  try {
    for await (const batch of lines) {
      silence.extend();
      const { events, failure } = readBatch(batch);
      yield events;
      if (failure !== undefined) throw failure;
    }
  } finally {
    silence.clear();
  }
}

export interface WatchSubject {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly selection: Selection;
  readonly pace?: ReadingPace | undefined;
}

/** Events that precede a failure are valid. */
function readBatch(batch: readonly unknown[]): { events: readonly WatchEvent[]; failure?: Error } {
  const events: WatchEvent[] = [];
  for (const line of batch) {
    const event = readLine(line);
    if (event instanceof Error) return { events, failure: event };
    events.push(event);
  }
  return { events };
}

const types: ReadonlyMap<unknown, WatchEvent['type']> = new Map([
  ['ADDED', 'upsert'],
  ['MODIFIED', 'upsert'],
  ['DELETED', 'delete'],
  ['BOOKMARK', 'bookmark'],
]);

function readLine(line: unknown): WatchEvent | Error {
  const { type: name, object } = recordOf(line);
  if (name === 'ERROR')
    return apiError(isRecord(object) && typeof object['code'] === 'number' ? object['code'] : 500, object);
  const type = types.get(name);
  if (type === undefined) return new ProtocolError('a line of the watch is not a valid event');
  // A bookmark has a version and no name.
  const named =
    type === 'bookmark' && isRecord(object) && isRecord(object['metadata'])
      ? { metadata: { name: 'bookmark', ...object['metadata'] } }
      : object;
  return isKubernetesObject(named) ? { type, object: named } : new ProtocolError('an event of the watch has no object');
}
