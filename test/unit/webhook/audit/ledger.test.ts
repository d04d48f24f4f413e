import { describe, expect, test } from '@jest/globals';
import { AuditLedger, maxSeries, otherNamespaces } from '../../../../src/webhook/audit/ledger.ts';
import { identityOf, type AuditResult } from '../../../../src/webhook/audit/result.ts';

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

  test('counts namespaces beyond the limit of series together', () => {
    const ledger = new AuditLedger();
    for (let index = 0; index < maxSeries + 50; index += 1) ledger.set(`n${index}`, 'a', [result()]);
    const counts = ledger.counts();
    expect(counts).toHaveLength(maxSeries + 1);
    expect(counts.at(-1)).toEqual({ labels: ['duration-form', otherNamespaces, 'fail'], value: 50 });
  });
});
