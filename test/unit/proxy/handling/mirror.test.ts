import { describe, expect, test } from '@jest/globals';
import type { EndpointsConfig, MirrorFilter } from '../../../../src/core/routing/config.ts';
import { createCounters } from '../../../../src/proxy/counters.ts';
import { createQuotas } from '../../../../src/proxy/limits/quota.ts';
import type { DataPlane } from '../../../../src/proxy/data-plane.ts';
import { EndpointRegistry } from '../../../../src/proxy/upstream/endpoints.ts';
import type { ResponseReceiver, UpstreamRequest } from '../../../../src/proxy/messages/forwarder.ts';
import { defaultLimits } from '../../../../src/proxy/limits/limits.ts';
import { Copy, type CopiedRequest } from '../../../../src/proxy/handling/mirror-copy.ts';
import { compileMirrors, Mirror } from '../../../../src/proxy/handling/mirror.ts';
import { monotonicNow } from '../../../../src/time/clock.ts';
import { endpointsConfig } from '../../../support/config.ts';

const filter: MirrorFilter = {
  type: 'mirror',
  target: { type: 'endpoints', key: endpointsConfig('copy').key },
  numerator: 1,
  denominator: 1,
};
const request: CopiedRequest = {
  client: '',
  method: 'POST',
  target: '/',
  fields: ['host', 'a'],
  hasBody: true,
  gateway: 'infra/gateway',
  identity: () => undefined,
};
const megabyte = 1024 * 1024;

interface Forwarded {
  readonly request: UpstreamRequest;
  readonly receiver: ResponseReceiver;
  aborted: number;
}

/** Sends a copy to these endpoints with a forwarder that only notes what it gets. */
function sendTo(config: EndpointsConfig, parts: Partial<CopiedRequest> = {}, limits = defaultLimits) {
  const forwarded: Forwarded[] = [];
  const endpoints = new EndpointRegistry(() => undefined);
  endpoints.upsert(config);
  const counters = createCounters();
  const used: Pick<DataPlane, 'now' | 'endpoints' | 'forwarder' | 'limits' | 'counters' | 'quotas'> = {
    now: monotonicNow,
    endpoints,
    forwarder: {
      forward(request, receiver) {
        const call: Forwarded = { request, receiver, aborted: 0 };
        forwarded.push(call);
        return { abort: () => void (call.aborted += 1), pause: () => undefined, resume: () => undefined };
      },
      release: () => undefined,
      close: () => Promise.resolve(),
    },
    limits,
    counters,
    quotas: createQuotas(limits, counters),
  };
  // A copy needs no more of it.
  const plane = used as DataPlane;
  const copy = Copy.send(plane, new Mirror(endpointsConfig('copy').key, filter), { ...request, ...parts });
  return { copy, forwarded, counters };
}

/** A copy that is under way, and the call that carries it. */
function underWay(): { copy: Copy; call: Forwarded } {
  const {
    copy,
    forwarded: [call],
  } = sendTo(endpointsConfig('copy', 1));
  if (copy === undefined || call === undefined) throw new Error('no copy was sent');
  return { copy, call };
}

describe('a copy', () => {
  test('goes to an endpoint of the mirror', () => {
    const { forwarded, counters } = sendTo(endpointsConfig('copy', 8080));
    expect(forwarded.map(({ request: { method, upstream } }) => ({ method, ...upstream }))).toEqual([
      { method: 'POST', host: '127.0.0.1', port: 8080 },
    ]);
    expect(counters.mirrored).toBe(1);
  });

  test.each<[string, EndpointsConfig]>([
    ['has a failure', { ...endpointsConfig('copy', 8080), failure: 'no valid CA certificate' }],
    ['has no endpoints', endpointsConfig('copy')],
    ['is not there', endpointsConfig('other', 8080)],
  ])('is not sent where the backend %s', (_, config) => {
    const { copy, forwarded, counters } = sendTo(config);
    expect(copy).toBeUndefined();
    expect(forwarded).toEqual([]);
    expect(counters.mirrored).toBe(0);
  });

  test('has no body where the request has none', () => {
    const { forwarded } = sendTo(endpointsConfig('copy', 1), { hasBody: false });
    expect(forwarded[0]?.request.body).toBeUndefined();
  });

  test('has the whole body', async () => {
    const { copy, call } = underWay();
    copy.add(Buffer.from('one '));
    copy.add(Buffer.from('two'));
    copy.end();
    const pieces = await call.request.body?.toArray();
    expect(Buffer.concat(pieces ?? []).toString()).toBe('one two');
    expect(call.aborted).toBe(0);
  });

  test('is aborted when the body of the request is cut off', () => {
    const { copy, call } = underWay();
    copy.add(Buffer.from('half'));
    copy.cut();
    expect(call.aborted).toBe(1);
    expect(call.request.body?.destroyed).toBe(true);
  });

  test('is not aborted by a cut after the end of the body', () => {
    const { copy, call } = underWay();
    copy.end();
    copy.cut();
    expect(call.aborted).toBe(0);
  });

  test('is aborted when its backend leaves more than one megabyte unread', () => {
    const { copy, call } = underWay();
    const added = (): number => call.request.body?.readableLength ?? 0;
    for (let bytes = 0; bytes <= megabyte; bytes += megabyte / 4) {
      expect(added()).toBe(bytes);
      copy.add(Buffer.alloc(megabyte / 4));
    }
    expect(call.aborted).toBe(0);
    copy.add(Buffer.alloc(1));
    expect(call.aborted).toBe(1);
    copy.add(Buffer.alloc(1));
    copy.end();
    expect(call.aborted).toBe(1);
  });

  test('is not aborted while one megabyte is unread, but by a piece after one more byte', () => {
    const { copy, call } = underWay();
    copy.add(Buffer.alloc(megabyte));
    copy.add(Buffer.alloc(1));
    expect(call.aborted).toBe(0);
    copy.add(Buffer.alloc(1));
    expect(call.aborted).toBe(1);
  });

  test('is aborted when its body would take more than half of the memory for buffers', () => {
    const limits = { ...defaultLimits, bufferedBytes: megabyte };
    const { copy, forwarded } = sendTo(endpointsConfig('copy', 1), {}, limits);
    copy?.add(Buffer.alloc(megabyte / 16));
    expect(forwarded[0]?.aborted).toBe(0);
    copy?.add(Buffer.alloc(megabyte / 2));
    expect(forwarded[0]?.aborted).toBe(1);
  });

  test('takes no more of the body after its failure', () => {
    const { copy, call } = underWay();
    call.receiver.onFailure('reset');
    copy.add(Buffer.from('late'));
    copy.cut();
    expect(call.request.body?.readableLength).toBe(0);
    expect(call.aborted).toBe(0);
  });
});

describe('the mirrors of a rule', () => {
  test('are those whose backend is usable', () => {
    const failing: MirrorFilter = { ...filter, target: { type: 'invalid', reason: 'not found' } };
    expect(compileMirrors([failing, filter]).map(({ endpoints }) => endpoints)).toEqual([endpointsConfig('copy').key]);
  });

  test.each([
    [1, 4],
    [3, 7],
    [0, 5],
    [5, 5],
  ])('take %i of %i requests, evenly', (numerator, denominator) => {
    const mirror = new Mirror(endpointsConfig('copy').key, { ...filter, numerator, denominator });
    const taken = Array.from({ length: denominator * 3 }, () => mirror.takes());
    for (let start = 0; start <= denominator * 2; start += 1)
      expect(taken.slice(start, start + denominator).filter(Boolean)).toHaveLength(numerator);
  });
});
