import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { isSchemaKind, type Bundle } from '../../src/core/schema/index.ts';
import { examples, section } from '../support/rule-pages.ts';
import { refusedByRules, refusedBySchema } from '../support/schema.ts';

// Users copy the examples of the documentation, so the newest bundle must take them.

const newest: Bundle = { minor: '1.7', channel: 'experimental' };
const guides = new URL('../../docs/guides/', import.meta.url);
const pages = readdirSync(guides).filter((name) => name.endsWith('.md'));

/** The reasons why the newest bundle rejects the Gateway API objects in YAML blocks of a text. */
function refusals(text: string): readonly string[] {
  return examples(text).flatMap((object) => {
    const { kind, apiVersion } = (object ?? {}) as { readonly kind?: string; readonly apiVersion?: string };
    if (kind === undefined || apiVersion === undefined || !isSchemaKind(kind)) return [];
    return [
      ...refusedBySchema(kind, apiVersion, object, newest),
      ...refusedByRules(kind, apiVersion, object, newest),
    ].map(({ message }) => message);
  });
}

describe('examples of docs/guides', () => {
  test.each(pages)('%s', (name) => {
    expect(refusals(readFileSync(new URL(name, guides), 'utf8'))).toEqual([]);
  });
});

describe('examples with external authorization in docs/rules', () => {
  const folder = new URL('../../docs/rules/', import.meta.url);
  const withAuthorization = readdirSync(folder)
    .map((name) => [name, readFileSync(new URL(name, folder), 'utf8')] as const)
    .filter(([, text]) => text.includes('externalAuth:'));

  test.each(withAuthorization)('%s', (_name, text) => {
    expect(refusals(section(text, 'Right'))).toEqual([]);
    // The wrong examples have the subject of their page as their only fault.
    expect(refusals(section(text, 'Wrong')).filter((message) => message.includes('is required with protocol'))).toEqual(
      [],
    );
  });
});
