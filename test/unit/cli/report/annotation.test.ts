import { describe, expect, test } from '@jest/globals';
import { readIgnored, withAnnotations } from '../../../../src/cli/report/annotation.ts';
import { collect } from '../../../support/collect.ts';
import { reported, reportOf, skipped } from '../../../support/report.ts';

function ignored(value: unknown) {
  const { reasons, problems } = readIgnored({ metadata: { annotations: { 'sallyport.dev/ignore': value } } });
  return { reasons: [...reasons], problems };
}

describe('the annotation sallyport.dev/ignore', () => {
  test('names rules and reasons', () => {
    expect(ignored('path-syntax: served by another proxy; \n schema:  the CRD is newer: v2\n')).toEqual({
      reasons: [
        ['path-syntax', 'served by another proxy'],
        ['schema', 'the CRD is newer: v2'],
      ],
      problems: [],
    });
  });

  test.each([
    ['path-syntax', 'silences path-syntax without a reason and is ignored; use "path-syntax: why it is right here"'],
    ['path-syntax: ', 'silences path-syntax without a reason and is ignored; use "path-syntax: why it is right here"'],
    ['path-sintax: because', 'names "path-sintax", which is not a rule; did you mean path-syntax?'],
    ['*: all', 'names "*", which is not a rule; use the id of a rule; findings show it in brackets'],
    [7, 'is 7; write text: "rule: reason; rule: reason"'],
  ])('%j silences nothing, and says why', (value, message) => {
    expect(ignored(value)).toEqual({ reasons: [], problems: [message] });
  });

  test('describes the first 32 of its problems', () => {
    const { reasons, problems } = ignored(`${'path-sintax: x; '.repeat(100)}schema: newer`);
    expect(reasons).toEqual([['schema', 'newer']]);
    expect(problems).toHaveLength(33);
    expect(problems.at(-1)).toBe('has 68 more entries that silence nothing; correct the others first');
  });

  test.each([[undefined], [null], [1], [[]], [{ metadata: null }], [{ metadata: { annotations: 'a' } }]])(
    'is absent from %j',
    (json) => {
      expect(readIgnored(json)).toEqual({ reasons: new Map(), problems: [] });
    },
  );

  const route = (annotation: string) =>
    `kind: HTTPRoute\nmetadata:\n  annotations:\n    sallyport.dev/ignore: "${annotation}"\n`;
  const wrong = { rule: 'path-syntax', severity: 'error', path: ['kind'], message: 'Wrong.' } as const;

  async function after(annotation: string) {
    const [object] = await collect(withAnnotations(reportOf(reported(route(annotation), [wrong]))));
    return object?.findings.map(({ rule, severity, position, suppression }) => [
      rule,
      severity,
      position.line,
      suppression?.reason,
    ]);
  }

  test('suppresses the findings of its rule, with the reason', async () => {
    expect(await after('path-syntax: agreed')).toEqual([['path-syntax', 'error', 1, 'agreed']]);
  });

  test('without a reason suppresses nothing and is a warning itself', async () => {
    expect(await after('path-syntax')).toEqual([
      ['path-syntax', 'error', 1, undefined],
      ['suppression', 'warning', 4, undefined],
    ]);
  });

  test('about a rule that finds nothing is noted', async () => {
    expect(await after('path-syntax: agreed; hostname-is-ip: agreed')).toEqual([
      ['path-syntax', 'error', 1, 'agreed'],
      ['suppression', 'note', 4, undefined],
    ]);
  });

  test('says nothing of objects of others', async () => {
    const object = skipped(route('hostname-is-ip: agreed').replace('HTTPRoute', 'Deployment'));
    expect(await collect(withAnnotations(reportOf(object)))).toEqual([object]);
  });
});
