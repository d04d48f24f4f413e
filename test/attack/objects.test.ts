import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import type { Bundle, SchemaKind } from '../../src/core/schema/index.ts';
import { placesIn, withValue } from '../differential/place.ts';
import { answerBytes, answerTo, judging, type Cost } from './support/judging.ts';
import { everyBundle, kindsIn, largestObjects, largestObjectsToJudge, type LargeObject } from './support/largest.ts';
import { isFull } from './support/scale.ts';

const newest: Bundle = { minor: '1.7', channel: 'experimental' };

/** Every tenth of HTTPRoute, and of the other kinds the widest. */
function attacked(kind: SchemaKind, bundle: Bundle): readonly LargeObject[] {
  return largestObjectsToJudge(kind, bundle).filter(
    ({ place }, index) => place === 'everything, 16 each' || (kind === 'HTTPRoute' && index % 10 === 0),
  );
}

// At full size, the answers to all objects of all bundles are checked together with their costs, because generating them takes long.
describe('the largest objects of the newest bundle', () => {
  const judge = judging(newest);
  test.each(kindsIn(newest))('%s: answers stay small', (kind) => {
    const answers = attacked(kind, newest).map((object) => ({
      place: object.place,
      bytes: answerTo(judge({ ...object, json: object.make() })),
    }));
    expect(answers.length).toBeGreaterThan(0);
    expect(answers.filter(({ bytes }) => bytes > answerBytes)).toEqual([]);
  });
});

describe('lists that no bundle accepts', () => {
  const judge = judging(newest);
  const gateway = (spec: object) => ({
    group: 'gateway.networking.k8s.io',
    version: 'v1',
    kind: 'Gateway' as const,
    plural: 'gateways',
    json: {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'Gateway',
      metadata: { name: 'large', namespace: 'shop' },
      spec: { gatewayClassName: 'sallyport', ...spec },
    },
  });
  const route = (spec: object) => ({
    group: 'gateway.networking.k8s.io',
    version: 'v1',
    kind: 'HTTPRoute' as const,
    plural: 'httproutes',
    json: {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'HTTPRoute',
      metadata: { name: 'large', namespace: 'shop' },
      spec,
    },
  });
  const names = Array.from({ length: 100_000 }, (_, index) => `x-${index}`);
  const cases = [
    [
      '50,000 listeners',
      gateway({
        listeners: Array.from({ length: 50_000 }, (_, index) => ({
          name: `l${index}`,
          port: 80,
          protocol: 'HTTP',
          hostname: `${index}.example.com`,
        })),
      }),
    ],
    ['100,000 empty rules', route({ rules: Array.from({ length: 100_000 }, () => ({})) })],
    [
      '90,000 matchLabels',
      gateway({
        listeners: [
          {
            name: 'web',
            port: 80,
            protocol: 'HTTP',
            allowedRoutes: {
              namespaces: {
                from: 'Selector',
                selector: { matchLabels: Object.fromEntries(names.slice(0, 90_000).map((name) => [name, ''])) },
              },
            },
          },
        ],
      }),
    ],
    [
      '100,000 headers in set and remove',
      route({
        rules: [
          {
            filters: [
              {
                type: 'RequestHeaderModifier',
                requestHeaderModifier: { set: names.map((name) => ({ name, value: 'a' })), remove: names },
              },
            ],
          },
        ],
      }),
    ],
  ] as const;

  test.each(cases)('%s are denied by the schema in few words', (_, object) => {
    const verdict = judge(object);
    expect(verdict).toMatchObject({ allowed: false, auditAnnotations: { denied: expect.stringContaining('schema') } });
    expect(answerTo(verdict)).toBeLessThan(answerBytes);
    expect(verdict.findings.length).toBeLessThan(1_000);
  });
});

describe('every field with every wrong type', () => {
  const wrong: readonly unknown[] = [
    null,
    true,
    -1,
    1.5,
    2 ** 60,
    '',
    'text',
    '\ud800',
    '__proto__',
    [],
    [[]],
    [null],
    {},
    { a: {} },
    JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{}}}'),
  ];
  test.each(kindsIn(newest).filter((kind) => isFull || kind === 'HTTPRoute' || kind === 'Gateway'))(
    '%s',
    (kind) => {
      const judge = judging(newest);
      const full = [...largestObjects(kind, newest)].find(({ place }) => place === 'everything, 1 each');
      if (full === undefined) throw new Error(`no object of kind ${kind}`);
      const good = full.make();
      // One place of each form: those of the first items stand for the others.
      const places = placesIn(good).filter((path) => path.every((part) => typeof part === 'string' || part === 0));
      const taken = isFull ? places : places.filter((_, index) => index % 8 === 0);
      expect(taken.length).toBeGreaterThan(5);
      for (const path of taken) {
        for (const value of wrong) {
          const verdict = judge({ ...full, json: withValue(good, path, value) as Record<string, unknown> });
          if (JSON.stringify(verdict).includes('could not judge'))
            throw new Error(`a rule threw for ${JSON.stringify(value)} at ${path.join('.')}`);
          expect(answerTo(verdict)).toBeLessThan(answerBytes);
        }
      }
      expect('polluted' in {}).toBe(false);
    },
    600_000,
  );
});

// Figures of processor time mean something only where nothing else runs.
if (isFull)
  describe('cost of the largest objects that the schema of a bundle accepts', () => {
    test.each(everyBundle.map((bundle, position) => ({ ...bundle, position })))(
      'v$minor $channel: below 100 ms of processor time and 20 MB each, with small answers',
      async ({ position }) => {
        const run = promisify(execFile);
        const { stdout } = await run(
          process.execPath,
          ['--expose-gc', '--max-old-space-size=384', 'test/attack/support/judging.ts', String(position)],
          { env: { ...process.env, NODE_OPTIONS: '' }, maxBuffer: 2 ** 24 },
        );
        const { count, worst } = JSON.parse(stdout) as { count: number; worst: readonly Cost[] };
        expect(count).toBeGreaterThan(50);
        expect(worst.filter(({ answer }) => answer > answerBytes)).toEqual([]);
        expect(worst.filter(({ isAccepted, cpu, memory }) => isAccepted && (cpu > 100 || memory > 20))).toEqual([]);
      },
    );
  });
