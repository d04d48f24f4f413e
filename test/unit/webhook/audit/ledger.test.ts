import { describe, expect, test } from '@jest/globals';
import { AuditLedger, maxSeries, otherNamespaces, resultsPerObject } from '../../../../src/webhook/audit/ledger.ts';
import { byImportance, identityOf, type AuditResult } from '../../../../src/webhook/audit/result.ts';

function result(more: Partial<AuditResult> = {}): AuditResult {
  return {
    object: { apiVersion: 'v1', kind: 'HTTPRoute', namespace: 'shop', name: 'cart', uid: 'u1' },
    rule: 'duration-form',
    outcome: 'fail',
    withheld: false,
    path: 'spec',
    message: 'Invalid.',
    since: 7,
    ...more,
  };
}

describe('the ledger', () => {
  test('knows the namespaces whose report is out of date', () => {
    const ledger = new AuditLedger();
    ledger.set('shop', 'HTTPRoute/shop/cart', []);
    expect(ledger.changed()).toEqual([]);
    ledger.set('shop', 'HTTPRoute/shop/cart', [result()]);
    expect(ledger.changed()).toEqual(['shop']);
    ledger.mark('shop', 'written');
    ledger.set('shop', 'HTTPRoute/shop/cart', [result()]);
    expect(ledger.changed()).toEqual([]);
    ledger.set('shop', 'HTTPRoute/shop/cart', []);
    expect(ledger.changed()).toEqual(['shop']);
    expect([...ledger.namespaces()]).toEqual([]);
  });

  test('remembers when a result appeared', () => {
    const ledger = new AuditLedger();
    ledger.set('shop', 'HTTPRoute/shop/cart', [result()]);
    expect(ledger.timesOf('shop', 'HTTPRoute/shop/cart').get(identityOf(result()))).toBe(7);
    expect(ledger.timesOf('shop', 'HTTPRoute/shop/other').size).toBe(0);
  });

  test('counts by rule, namespace and outcome', () => {
    const ledger = new AuditLedger();
    ledger.set('shop', 'a', [result(), result({ path: 'x' }), result({ outcome: 'warn' })]);
    ledger.set('', 'b', [result({ rule: 'schema' })]);
    expect(ledger.counts()).toEqual([
      { labels: ['schema', '', 'fail'], value: 1 },
      { labels: ['duration-form', 'shop', 'fail'], value: 2 },
      { labels: ['duration-form', 'shop', 'warn'], value: 1 },
    ]);
  });

  test('keeps the results of an object that matter most, and counts all', () => {
    const ledger = new AuditLedger();
    const warnings = Array.from({ length: 2_000 }, (_, index) => result({ outcome: 'warn', path: `x${index}` }));
    ledger.set('shop', 'a', [...warnings, result({ path: 'z' })]);
    const kept = ledger.resultsOf('shop', 1_000);
    expect(kept).toHaveLength(resultsPerObject);
    expect(kept[0]).toEqual(result({ path: 'z' }));
    expect(ledger.totalsOf('shop')).toEqual({ fail: 1, warn: 2_000, skip: 0 });
    ledger.mark('shop', 'written');
    ledger.set('shop', 'a', [...warnings.slice(1), result({ path: 'z' })]);
    expect(ledger.changed()).toEqual(['shop']);
    expect(ledger.counts()).toEqual([
      { labels: ['duration-form', 'shop', 'warn'], value: 1_999 },
      { labels: ['duration-form', 'shop', 'fail'], value: 1 },
    ]);
    ledger.set('shop', 'a', []);
    expect(ledger.counts()).toEqual([]);
    expect(ledger.totalsOf('shop')).toEqual({ fail: 0, warn: 0, skip: 0 });
  });

  test('returns the results of a namespace in the order of reports, and no more than asked', () => {
    const ledger = new AuditLedger();
    const of = (name: string, ...outcomes: readonly AuditResult['outcome'][]): readonly AuditResult[] =>
      outcomes.map((outcome) => result({ outcome, object: { ...result().object, name } }));
    const all = [of('c', 'fail', 'warn'), of('a', 'warn', 'skip'), of('b', 'skip', 'fail')];
    for (const results of all) ledger.set('shop', results[0]?.object.name ?? '', results);
    expect(ledger.resultsOf('shop', 9)).toEqual(all.flat().sort(byImportance));
    expect(ledger.resultsOf('shop', 3)).toEqual(all.flat().sort(byImportance).slice(0, 3));
    expect(ledger.resultsOf('other', 3)).toEqual([]);
  });

  test('counts namespaces beyond the limit of series together', () => {
    const ledger = new AuditLedger();
    for (let index = 0; index < maxSeries + 50; index += 1) ledger.set(`n${index}`, 'a', [result()]);
    const counts = ledger.counts();
    expect(counts).toHaveLength(maxSeries + 1);
    expect(counts.at(-1)).toEqual({ labels: ['duration-form', otherNamespaces, 'fail'], value: 50 });
  });
});
