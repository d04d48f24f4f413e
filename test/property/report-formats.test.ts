import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { writeGithub } from '../../src/cli/report/formats/github.ts';
import { writeJson } from '../../src/cli/report/formats/json.ts';
import { writeJunit } from '../../src/cli/report/formats/junit.ts';
import type { Reported } from '../../src/cli/report/report.ts';
import { reportedObject } from '../../src/cli/report/reported.ts';
import { writeSarif } from '../../src/cli/report/formats/sarif.ts';
import { writeText } from '../../src/cli/report/formats/text.ts';
import type { SourceDocument } from '../../src/files/document.ts';
import { problem, written } from '../support/report.ts';

// Whatever files and objects are named, and whatever they hold.

const hostile = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({
    unit: fc.constantFrom(
      '\u0000',
      '\u001b',
      '\n',
      '\r',
      '\t',
      '\u007f',
      '\u0085',
      '\u009b',
      '\u202e',
      '\u2066',
      '\u2028',
      '\ufeff',
      '\ufffe',
      '\uffff',
      '\ud800',
      '\udc00',
      '\u{e0001}',
      '😀',
      '%',
      '%0A',
      '::',
      ',',
      ':',
      ']]>',
      '<',
      '>',
      '&',
      '&amp;',
      '"',
      "'",
      '\\',
      'a',
    ),
  }),
);

const report = fc
  .record({ file: hostile, name: hostile, key: hostile, value: hostile, line: hostile, message: hostile })
  .map(({ file, name, key, value, line, message }): Reported[] => {
    const json = {
      apiVersion: value,
      kind: value,
      metadata: { name, namespace: value },
      spec: { [key]: [{ name: value }] },
    };
    const document: SourceDocument = {
      file,
      index: 0,
      value: json,
      line: 1,
      locate: () => ({ line: 1, column: 1 }),
      textOf: () => line,
    };
    const object = reportedObject(document, name, [
      { rule: 'one', severity: 'error', path: ['spec', key, 0, 'name'], message },
      { rule: 'two', severity: 'note', path: [], message },
    ]);
    const suppression = { by: 'annotation', reason: value } as const;
    return [
      object,
      problem({ file, message, text: line }),
      { ...object, findings: object.findings.map((finding) => ({ ...finding, suppression })) },
    ];
  });

/** What writes to a terminal, or hides there. */
const invisible = /[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

describe.each([
  ['json', writeJson],
  ['sarif', writeSarif],
  ['junit', writeJunit],
  ['github', writeGithub],
  ['text', writeText],
] as const)('the format %s', (_name, format) => {
  test('has no raw control or format character', async () => {
    await fc.assert(
      fc.asyncProperty(report, async (objects) => {
        expect(await written(format, ...objects)).not.toMatch(invisible);
      }),
    );
  });
});

test('JSON reads back every name and message', async () => {
  await fc.assert(
    fc.asyncProperty(report, async (objects) => {
      const [first] = objects;
      const {
        objects: [entry],
        problems: [found],
      } = JSON.parse(await written(writeJson, ...objects));
      expect([entry.file, entry.findings[0].message, found.file, found.message]).toEqual([
        first?.file,
        first?.findings[0]?.message,
        first?.file,
        first?.findings[0]?.message,
      ]);
    }),
  );
});

test('SARIF reads back every object and file', async () => {
  await fc.assert(
    fc.asyncProperty(
      report.filter(
        ([first]) => first?.file.isWellFormed() === true && !first.file.includes('\\') && !first.file.startsWith('/'),
      ),
      async (objects) => {
        const [first] = objects;
        if (first?.type !== 'judged') throw new Error('not an object');
        const {
          runs: [
            {
              results: [result],
            },
          ],
        } = JSON.parse(await written(writeSarif, ...objects));
        expect(decodeURIComponent(result.locations[0].physicalLocation.artifactLocation.uri)).toBe(first.file);
        expect(result.partialFingerprints['sallyport/v1']).toBe(first.findings[0]?.identity?.());
      },
    ),
  );
});

test('GitHub reads back every file, and nothing but annotations', async () => {
  await fc.assert(
    fc.asyncProperty(report, async (objects) => {
      const lines = (await written(writeGithub, ...objects)).split('\n');
      expect(lines.map((line) => /^::(?:error|notice) file=|^1 object|^2 objects|^$/.test(line))).toEqual(
        lines.map(() => true),
      );
      const file = /^::error file=([^,]*),line=1,col=1,title=one::/.exec(lines[0] ?? '')?.[1];
      expect(decodeURIComponent(file ?? '')).toBe(objects[0]?.file.toWellFormed());
    }),
  );
});

/** An XML document without comments, processing instructions and CDATA: throws unless it is well-formed (XML 1.0, 2.1). */
function readXml(xml: string): { readonly attributes: readonly string[] } {
  const attributes: string[] = [];
  const open: string[] = [];
  let rest = xml.replace(/^<\?xml version="1\.0" encoding="UTF-8"\?>\n/, '');
  while (rest !== '') {
    const token = /^<(\/?)([a-z-]+)((?: [a-z]+="[^"<]*")*)(\/?)>|^[^<]+/.exec(rest);
    if (token === null) throw new Error(`not well-formed: ${JSON.stringify(rest.slice(0, 40))}`);
    const [text, isEnd, name = '', written = '', isEmpty] = token;
    if (isEnd === '/' && open.pop() !== name) throw new Error(`not nested: ${text}`);
    if (name !== '' && isEnd === '' && isEmpty === '') open.push(name);
    for (const [, value = ''] of written.matchAll(/="([^"]*)"/g)) attributes.push(decode(value));
    if (name === '') decode(text);
    rest = rest.slice(text.length);
  }
  if (open.length > 0) throw new Error(`not closed: ${open.join(' ')}`);
  return { attributes };
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' };

function decode(text: string): string {
  for (const character of text) assertCharacter(character);
  // "]]>" may not stand in text.
  if (text.includes(']]>')) throw new Error(']]> in text');
  return text.replaceAll(/&(?:#x([0-9a-f]+)|([a-z]+));|&/g, (reference, code?: string, name?: string) => {
    const value = code === undefined ? entities[name ?? ''] : String.fromCodePoint(Number.parseInt(code, 16));
    if (value === undefined) throw new Error(`no entity: ${reference}`);
    assertCharacter(value);
    return value;
  });
}

/** Char of XML 1.0, 2.2. */
function assertCharacter(character: string): void {
  if (!/^[\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]$/u.test(character))
    throw new Error(`no character of XML: ${JSON.stringify(character)}`);
}

test('JUnit is well-formed XML, and reads back every name that XML can hold', async () => {
  await fc.assert(
    fc.asyncProperty(report, async (objects) => {
      const { attributes } = readXml(await written(writeJunit, ...objects));
      const file = objects[0]?.file ?? '';
      const forbidden = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;
      const expected = file.replaceAll(
        forbidden,
        (character) => `\\u${character.codePointAt(0)?.toString(16).padStart(4, '0')}`,
      );
      expect(attributes).toContain(expected);
    }),
  );
});
