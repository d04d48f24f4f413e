import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { applyDefaults, tables, type Bundle, type KindName } from '../../../../src/core/schema/index.ts';

const standard: Bundle = { minor: '1.7', channel: 'standard' };
const experimental: Bundle = { minor: '1.7', channel: 'experimental' };
const everyPath = { type: 'PathPrefix', value: '/' };

describe('applyDefaults', () => {
  test('a route without rules has one that matches everything', () => {
    expect(applyDefaults('HTTPRoute', { spec: {} }, standard)).toEqual({
      spec: { rules: [{ matches: [{ path: everyPath }] }] },
    });
  });

  test('a rule without matches, a match without path and half a path are completed', () => {
    const spec = {
      rules: [
        {},
        { matches: [{ method: 'GET' }, { path: { value: '/a' } }, { headers: [{ name: 'a', value: 'b' }] }] },
      ],
    };
    expect(applyDefaults('HTTPRoute', { spec }, standard)).toEqual({
      spec: {
        rules: [
          { matches: [{ path: everyPath }] },
          {
            matches: [
              { method: 'GET', path: everyPath },
              { path: { type: 'PathPrefix', value: '/a' } },
              { headers: [{ name: 'a', value: 'b', type: 'Exact' }], path: everyPath },
            ],
          },
        ],
      },
    });
  });

  test('references get the group and kind they mean by default, backends a weight', () => {
    const spec = {
      parentRefs: [{ name: 'g' }],
      rules: [
        {
          matches: [],
          backendRefs: [
            { name: 's', port: 80 },
            { name: 't', weight: 0 },
          ],
        },
      ],
    };
    expect(applyDefaults('HTTPRoute', { spec }, standard)).toEqual({
      spec: {
        parentRefs: [{ name: 'g', group: 'gateway.networking.k8s.io', kind: 'Gateway' }],
        rules: [
          {
            matches: [],
            backendRefs: [
              { name: 's', port: 80, group: '', kind: 'Service', weight: 1 },
              { name: 't', weight: 0, group: '', kind: 'Service' },
            ],
          },
        ],
      },
    });
  });

  test('filters, retries and mirrors have theirs', () => {
    const filters = [
      { requestRedirect: {} },
      { requestMirror: { backendRef: { name: 'm' }, fraction: { numerator: 1 } } },
      { cors: {} },
    ];
    expect(applyDefaults('HTTPRoute', { spec: { rules: [{ matches: [], filters, retry: {} }] } }, standard)).toEqual({
      spec: {
        rules: [
          {
            matches: [],
            retry: { attempts: 1 },
            filters: [
              { requestRedirect: { statusCode: 302 } },
              {
                requestMirror: {
                  backendRef: { name: 'm', group: '', kind: 'Service' },
                  fraction: { numerator: 1, denominator: 100 },
                },
              },
              { cors: { maxAge: 5 } },
            ],
          },
        ],
      },
    });
  });

  test('listeners allow routes of their own namespace and terminate TLS', () => {
    const spec = {
      gatewayClassName: 'c',
      listeners: [{ name: 'a' }, { name: 'b', allowedRoutes: {}, tls: { certificateRefs: [{ name: 's' }] } }],
    };
    expect(applyDefaults('Gateway', { spec, status: {} }, standard)).toMatchObject({
      spec: {
        gatewayClassName: 'c',
        listeners: [
          { name: 'a', allowedRoutes: { namespaces: { from: 'Same' } } },
          {
            name: 'b',
            allowedRoutes: { namespaces: { from: 'Same' } },
            tls: { mode: 'Terminate', certificateRefs: [{ name: 's', group: '', kind: 'Secret' }] },
          },
        ],
      },
      status: { conditions: [{ type: 'Accepted', status: 'Unknown', reason: 'Pending' }, { type: 'Programmed' }] },
    });
  });

  test('a field that the channel lacks gets no defaults', () => {
    const route = { spec: { rules: [{ matches: [], sessionPersistence: { cookie: {} } }] } };
    expect(applyDefaults('HTTPRoute', route, standard)).toEqual(route);
    expect(applyDefaults('HTTPRoute', route, experimental)).toEqual({
      spec: {
        rules: [
          { matches: [], sessionPersistence: { type: 'Cookie', cookie: { lifetimeType: 'Session', path: '/' } } },
        ],
      },
    });
  });

  test('null stands for absence: defaults apply, other nulls go', () => {
    const spec = { hostnames: null, rules: [{ matches: null, timeouts: null }] };
    expect(applyDefaults('HTTPRoute', { spec }, standard)).toEqual({
      spec: { rules: [{ matches: [{ path: everyPath }] }] },
    });
  });

  test('what has the wrong type or is unknown stays', () => {
    const odd = { spec: { rules: 'none', parentRefs: [5], more: { x: null } }, metadata: { name: 'a' } };
    expect(applyDefaults('HTTPRoute', odd, standard)).toEqual(odd);
    expect(applyDefaults('HTTPRoute', 5, standard)).toBe(5);
  });

  test('never throws, leaves its input alone, and a second time changes nothing', () => {
    const kinds = Object.keys(tables) as KindName[];
    fc.assert(
      fc.property(fc.constantFrom(...kinds), fc.jsonValue(), (kind, value) => {
        const json = { spec: value, status: value };
        const before = JSON.stringify(json);
        const once = applyDefaults(kind, json, experimental);
        expect(JSON.stringify(json)).toBe(before);
        expect(applyDefaults(kind, once, experimental)).toEqual(once);
      }),
    );
  });
});
