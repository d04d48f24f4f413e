import { describe, expect, test } from '@jest/globals';
import { formerFields } from '../../../../src/core/preflight/former-fields.ts';
import type { StoredObject } from '../../../../src/core/preflight/target.ts';
import type { Bundle } from '../../../../src/core/schema/index.ts';

const apiVersion = 'gateway.networking.k8s.io/v1';

function route(...managedFields: readonly unknown[]): StoredObject {
  return {
    kind: 'HTTPRoute',
    ref: { group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace: 'shop', name: 'cart' },
    json: { apiVersion, kind: 'HTTPRoute', metadata: { namespace: 'shop', name: 'cart', managedFields } },
  };
}

const retrying = {
  manager: 'kubectl',
  apiVersion,
  fieldsV1: {
    'f:metadata': { 'f:labels': { 'f:team': {} } },
    'f:spec': {
      '.': {},
      'f:hostnames': { '.': {}, 'v:"shop.example.com"': {} },
      'f:rules': { 'k:{"name":"a"}': { '.': {}, 'f:name': {}, 'f:retry': { '.': {}, 'f:attempts': {} } } },
    },
  },
};

const standard: Bundle = { minor: '1.0', channel: 'standard' };
const experimental: Bundle = { minor: '1.7', channel: 'experimental' };

describe('fields that the installed CRDs do not have', () => {
  test('are found after a downgrade, without the fields inside of them', () => {
    expect(formerFields([route(retrying)], standard)).toEqual([
      { object: 'HTTPRoute shop/cart', field: 'spec.rules.name' },
      { object: 'HTTPRoute shop/cart', field: 'spec.rules.retry' },
    ]);
    expect(formerFields([route(retrying)], experimental)).toEqual([]);
  });

  test('are told once for each object, however many clients wrote them', () => {
    expect(formerFields([route(retrying, { ...retrying, manager: 'helm' })], standard)).toHaveLength(2);
  });

  test('are not the keys of maps, nor fields of other groups, nor a status', () => {
    const labels = { 'f:infrastructure': { 'f:labels': { 'f:team': {}, 'f:example.com/team': {} } } };
    const gateway: StoredObject = {
      ...route({ apiVersion, fieldsV1: { 'f:spec': labels } }),
      kind: 'Gateway',
    };
    expect(formerFields([gateway], experimental)).toEqual([]);
    expect(formerFields([route({ ...retrying, apiVersion: 'apps/v1' })], standard)).toEqual([]);
    expect(formerFields([route({ apiVersion, fieldsV1: { 'f:status': { 'f:odd': {} } } })], standard)).toEqual([]);
  });

  test.each([null, 7, {}, { apiVersion, fieldsV1: 7 }, { apiVersion, fieldsV1: { 'f:spec': [{ 'f:odd': 7 }] } }])(
    'managed fields may be anything: %j',
    (managed) => {
      expect(() => formerFields([route(managed)], standard)).not.toThrow();
    },
  );
});
