import { readdirSync } from 'node:fs';
import { examples, rulePage } from '../support/rule-pages.ts';
import { objectWith, type Subject } from './subject.ts';

const pages = readdirSync(new URL('../../docs/rules/', import.meta.url))
  .filter((file) => file !== 'README.md')
  .map((file) => file.slice(0, -'.md'.length));

/** The objects of all examples on the pages of our rules, right and wrong ones. */
const written = pages.flatMap((id) => examples(rulePage(id))) as readonly {
  readonly kind: string;
  readonly spec: unknown;
}[];

/** Those of a subject's kind, as objects of its version. */
export function examplesOf(subject: Subject): readonly unknown[] {
  return written.filter(({ kind }) => kind === subject.kind).map(({ spec }) => objectWith(subject, spec));
}
