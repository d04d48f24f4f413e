import { isRecord, recordOf } from '../core/text/record.ts';
import type { ApiClient } from './client.ts';
import { ApiError, ProtocolError, ResponseTooLongError } from './errors.ts';
import { isKubernetesObject, isVersion, pathOf, type KubernetesObject, type ResourceType } from './object.ts';

/** A selection of objects of a kind: all, those of one namespace, or those that match a selector. */
export interface Selection {
  readonly type: ResourceType;
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** `metadata`: requests the objects' metadata only. */
  readonly part?: 'object' | 'metadata';
}

/** A page of a list. If `restarted`, discard all previous pages: the server no longer has the snapshot that they came from. */
export interface Page {
  readonly objects: readonly KubernetesObject[];
  /** Characters of the response. */
  readonly characters: number;
  readonly resourceVersion: string;
  readonly restarted: boolean;
}

const pageSize = 500;
/** Maximum characters of a page of several objects. Lists of many kinds are read at the same time, and a parsed page takes as much again. */
const longestPage = 4 * 1024 * 1024;
/** Maximum number of pages: etcd cannot hold as many objects. */
const maxPages = 10_000;
/** Number of restarts after expired lists. The next expiry is thrown. */
const maxRestarts = 3;

/**
 * Lists all objects of a selection page by page, from a snapshot that is current at the start. Large objects get smaller pages: their
 * number must not decide how much memory a page takes.
 *
 * @throws as `ApiClient.request` does; ProtocolError if a response is not a list, or if the list does not end
 */
export async function* listPages(
  client: ApiClient,
  selection: Selection,
  signal: AbortSignal,
): AsyncGenerator<Page, void, void> {
  const place: Place = { token: undefined, size: pageSize };
  let restarts = 0;
  let restarted = false;
  let pages = 0;
  do {
    let answer: Answer;
    try {
      answer = await requestPage(client, selection, { place, signal });
    } catch (error) {
      if (place.token === undefined || restarts === maxRestarts || !(error instanceof ApiError) || error.status !== 410)
        throw error;
      restarts += 1;
      restarted = true;
      place.token = undefined;
      answer = await requestPage(client, selection, { place, signal });
    }
    const { page, next } = readPage(answer);
    yield { ...page, restarted };
    restarted = false;
    pages += 1;
    if (next !== undefined && (next === place.token || pages === maxPages))
      throw new ProtocolError('the API server sent a list without an end');
    place.token = next;
  } while (place.token !== undefined);
}

/**
 * Returns the present version of the API server, from a list of at most one object.
 *
 * @throws as `ApiClient.request` does; ProtocolError if the response is not a list
 */
export async function presentVersion(client: ApiClient, selection: Selection, signal: AbortSignal): Promise<string> {
  const place: Place = { token: undefined, size: 1 };
  const answer = await requestPage(client, { ...selection, part: 'metadata' }, { place, signal });
  return readPage(answer).page.resourceVersion;
}

/** Where a list continues. */
interface Place {
  token: string | undefined;
  /** Number of objects of the next page. */
  size: number;
}

interface Answer {
  readonly json: unknown;
  readonly characters: number;
}

interface PageRequest {
  readonly place: Place;
  readonly signal: AbortSignal;
}

/** Requests a page with as many objects as fit into a response. The next page may have more again. */
async function requestPage(client: ApiClient, selection: Selection, { place, signal }: PageRequest): Promise<Answer> {
  let characters = 0;
  for (;;) {
    try {
      const json = await client.request({
        path: pathOf(selection.type, selectedNamespace(selection)),
        query: { ...selectors(selection), limit: place.size, continue: place.token },
        accept: acceptFor(selection, 'PartialObjectMetadataList'),
        signal,
        onText: (length) => {
          characters = length;
        },
        ...(place.size > 1 && { longest: longestPage }),
      });
      place.size = Math.min(place.size * 2, pageSize);
      return { json, characters };
    } catch (error) {
      if (!(error instanceof ResponseTooLongError) || place.size === 1) throw error;
      place.size = Math.ceil(place.size / 4);
    }
  }
}

function readPage({ json: answer, characters }: Answer): { page: Omit<Page, 'restarted'>; next: string | undefined } {
  const metadata = isRecord(answer) ? answer['metadata'] : undefined;
  // Go writes an empty list as null, too. Without items, it may be another object, which must not stand for the absence of all objects.
  const items = isRecord(answer) && answer['items'] === null ? [] : recordOf(answer)['items'];
  const resourceVersion = isRecord(metadata) ? metadata['resourceVersion'] : undefined;
  if (!isRecord(metadata) || !Array.isArray(items) || !isVersion(resourceVersion))
    throw new ProtocolError('the API server sent a response that is not a valid list');
  const objects: readonly unknown[] = items;
  if (!objects.every(isKubernetesObject)) throw new ProtocolError('a list has an item that is not an object');
  const next = metadata['continue'];
  return {
    page: { objects, characters, resourceVersion },
    next: typeof next === 'string' && next !== '' ? next : undefined,
  };
}

export function selectedNamespace({ namespace }: Selection): { namespace?: string } {
  return namespace === undefined ? {} : { namespace };
}

export function selectors({ labelSelector, fieldSelector }: Selection): Record<string, string | undefined> {
  return { labelSelector, fieldSelector };
}

/** `as` is the name of the metadata type: PartialObjectMetadata, or its list. */
export function acceptFor({ part }: Selection, as: string): string {
  return part === 'metadata' ? `application/json;as=${as};g=meta.k8s.io;v=v1` : 'application/json';
}
