import { describe, expect, test } from '@jest/globals';
import { Ajv } from 'ajv';
import { writeSarif } from '../../../../../src/cli/report/formats/sarif.ts';
import type { Reported } from '../../../../../src/cli/report/report.ts';
import { problem, reported, written } from '../../../../support/report.ts';

// The part of SARIF 2.1.0 that we write, stricter than the standard: everything else is refused. Sections in brackets.

function object(properties: Readonly<Record<string, object>>, required: readonly string[] = []): object {
  return { type: 'object', additionalProperties: false, properties, required };
}

const text = { type: 'string', minLength: 1 };
const position = { type: 'integer', minimum: 1 };
const message = object({ text }, ['text']);
const location = object({
  // [3.29] A uri is a URI reference [3.4.3].
  physicalLocation: object(
    {
      artifactLocation: object({ uri: { type: 'string', pattern: "^[A-Za-z0-9._~:/%!$&'()*+,;=@-]+$" } }, ['uri']),
      region: object({ startLine: position, startColumn: position }, ['startLine']),
    },
    ['artifactLocation'],
  ),
  // [3.33]
  logicalLocations: { type: 'array', minItems: 1, items: object({ fullyQualifiedName: text }, ['fullyQualifiedName']) },
});
const log = object(
  {
    $schema: { const: 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json' },
    version: { const: '2.1.0' },
    runs: {
      type: 'array',
      items: object(
        {
          tool: object(
            {
              driver: object(
                {
                  name: text,
                  version: text,
                  rules: {
                    type: 'array',
                    uniqueItems: true,
                    items: object({ id: text, shortDescription: message }, ['id']),
                  },
                },
                ['name'],
              ),
            },
            ['driver'],
          ),
          columnKind: { enum: ['utf16CodeUnits', 'unicodeCodePoints'] },
          results: {
            type: 'array',
            items: object(
              {
                ruleId: text,
                message,
                level: { enum: ['none', 'note', 'warning', 'error'] },
                locations: { type: 'array', items: location },
                partialFingerprints: { type: 'object', additionalProperties: text },
                suppressions: {
                  type: 'array',
                  items: object({ kind: { enum: ['inSource', 'external'] }, justification: text }, ['kind']),
                },
              },
              ['message', 'ruleId', 'suppressions'],
            ),
          },
        },
        ['tool', 'results', 'columnKind'],
      ),
    },
  },
  ['version', 'runs', '$schema'],
);

const validate = new Ajv({ strict: false, allErrors: true }).compile(log);

interface Log {
  readonly runs: readonly {
    readonly tool: { readonly driver: { readonly rules: readonly { readonly id: string }[] } };
    readonly results: readonly Readonly<Record<string, unknown>>[];
  }[];
}

async function sarifOf(...objects: readonly Reported[]): Promise<Log> {
  const sarif = JSON.parse(await written(writeSarif, ...objects)) as Log;
  expect(validate(sarif) ? [] : validate.errors).toEqual([]);
  return sarif;
}

const found = reported(
  'kind: HTTPRoute\nspec: {}\n',
  [{ rule: 'path-syntax', severity: 'error', path: ['spec'], message: 'Wrong.' }],
  'my routes/ä.yaml',
);

describe('sarif', () => {
  test('places results in files and objects', async () => {
    const {
      runs: [run],
    } = await sarifOf(found);
    expect(run?.results).toEqual([
      {
        ruleId: 'path-syntax',
        level: 'error',
        message: { text: 'spec: Wrong.' },
        locations: [
          {
            physicalLocation: {
              artifactLocation: { uri: 'my%20routes/%C3%A4.yaml' },
              region: { startLine: 2, startColumn: 1 },
            },
            logicalLocations: [{ fullyQualifiedName: 'HTTPRoute shop/cart spec' }],
          },
        ],
        partialFingerprints: { 'sallyport/v1': 'path-syntax HTTPRoute shop/cart spec' },
        suppressions: [],
      },
    ]);
  });

  test('names files by URIs: relative ones stay relative', async () => {
    const files = ['a/b.yaml', '/etc/c d.yaml', 'e%f#g?.yaml'];
    const {
      runs: [run],
    } = await sarifOf(...files.map((file) => problem({ file })));
    const placed = (uri: string) =>
      expect.objectContaining({ locations: [{ physicalLocation: { artifactLocation: { uri } } }] });
    expect(run?.results).toEqual(['a/b.yaml', 'file:///etc/c%20d.yaml', 'e%25f%23g%3F.yaml'].map(placed));
  });

  test('tells what is suppressed, and by what', async () => {
    const by = (way: 'annotation' | 'baseline') => ({
      ...found,
      findings: found.findings.map((finding) => ({ ...finding, suppression: { by: way, reason: 'as agreed' } })),
    });
    const {
      runs: [run],
    } = await sarifOf(by('annotation'), by('baseline'));
    expect(run?.results.map((result) => result['suppressions'])).toEqual([
      [{ kind: 'inSource', justification: 'as agreed' }],
      [{ kind: 'external', justification: 'as agreed' }],
    ]);
  });

  test('describes every rule that a result can have', async () => {
    const {
      runs: [run],
    } = await sarifOf(found, problem({}));
    const ids = new Set(run?.tool.driver.rules.map(({ id }) => id));
    expect(run?.results.filter(({ ruleId }) => !ids.has(String(ruleId)))).toEqual([]);
  });
});
