import type { Steps } from '../core/text/steps.ts';
import type { SourceDocument } from './document.ts';

/** The changes of documents between two reads. */
export interface Difference {
  readonly added: readonly SourceDocument[];
  readonly changed: readonly { readonly before: SourceDocument; readonly after: SourceDocument }[];
  readonly removed: readonly SourceDocument[];
}

/**
 * Compares two reads. Documents match if they describe the same object in the same file (the first of several matches the first, and
 * so on), regardless of their position. A document has changed if its value has.
 */
export function* differenceOf(before: readonly SourceDocument[], after: readonly SourceDocument[]): Steps<Difference> {
  // The documents of a file that has not changed are the same ones.
  const left = byIdentity(without(before, new Set(after)));
  const right = byIdentity(without(after, new Set(before)));
  const added: SourceDocument[] = [];
  const changed: { before: SourceDocument; after: SourceDocument }[] = [];
  for (const [identity, document] of right) {
    const former = left.get(identity);
    if (former === undefined) added.push(document);
    else if (!isSameValue(former.value, document.value)) changed.push({ before: former, after: document });
    yield;
  }
  const removed = [...left].filter(([identity]) => !right.has(identity)).map(([, document]) => document);
  return { added, changed, removed };
}

function without(documents: readonly SourceDocument[], others: ReadonlySet<SourceDocument>): readonly SourceDocument[] {
  return documents.filter((document) => !others.has(document));
}

function byIdentity(documents: readonly SourceDocument[]): Map<string, SourceDocument> {
  const found = new Map<string, SourceDocument>();
  const occurrences = new Map<string, number>();
  for (const document of documents) {
    const { file, value } = document;
    const metadata = member(value, 'metadata');
    const object = [
      member(value, 'apiVersion'),
      member(value, 'kind'),
      member(metadata, 'namespace'),
      member(metadata, 'name'),
    ];
    const name = JSON.stringify([file, ...object.map(String)]);
    const occurrence = (occurrences.get(name) ?? 0) + 1;
    occurrences.set(name, occurrence);
    found.set(`${occurrence} ${name}`, document);
  }
  return found;
}

function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}

function isSameValue(left: unknown, right: unknown): boolean {
  return left === right || JSON.stringify(left) === JSON.stringify(right);
}
