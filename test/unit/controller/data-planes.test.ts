import { describe, expect, test } from '@jest/globals';
import type { ConfigurationSource } from '../../../src/channel/source.ts';
import type { ToProxy } from '../../../src/channel/messages.ts';
import { DataPlanes } from '../../../src/controller/data-planes.ts';
import type { ListenerConfig } from '../../../src/core/routing/config.ts';
import type { Write } from '../../../src/core/incremental/index.ts';

function listener(generation: number, name = 'http'): ListenerConfig {
  return { kind: 'listener', key: `listener/ns/gw/${name}`, gateway: 'ns/gw', owner: 'Gateway/ns/gw', name, port: 80, protocol: 'HTTP', certificates: [], generation };
}

function upserted(...resources: readonly ListenerConfig[]) {
  return { upserted: new Map(resources.map((resource) => [resource.key, resource])), removed: new Set<string>() };
}

const addresses = [{ type: 'IPAddress', value: '192.0.2.1' }];

function started(programmed?: number) {
  const told: Write[] = [];
  const planes = new DataPlanes({ tell: (writes) => void told.push(...writes), programmed: () => programmed });
  planes.serve('ns/gw');
  planes.publish(upserted(listener(1)));
  const source = planes.sourceOf('ns/gw');
  if (source === undefined) throw new Error('the Gateway is served');
  return { told, planes, source };
}

/** A data plane that acknowledges when the test says so. */
function connect(source: ConfigurationSource) {
  let sent = 0;
  const peer = source.connect('pod', (message: ToProxy) => {
    sent = message.id;
  });
  void peer.receive({ type: 'hello', digests: {} });
  return { ...peer, acknowledge: (...problems: { key: string; message: string }[]) => void peer.receive({ type: 'acknowledge', id: sent, problems }) };
}

describe('acknowledgements', () => {
  test('count from the moment at which there is an address', () => {
    const { told, planes, source } = started();
    connect(source).acknowledge();
    expect(told).toEqual([]);
    planes.setAddresses('ns/gw', addresses);
    expect(told).toMatchObject([{ value: { generation: 1, addresses } }]);
  });

  test('a generation counts when all data planes have it', () => {
    const { told, planes, source } = started();
    planes.setAddresses('ns/gw', addresses);
    const [one, other] = [connect(source), connect(source)];
    one.acknowledge();
    other.acknowledge();
    planes.publish(upserted(listener(2)));
    one.acknowledge();
    expect(told).toMatchObject([{ value: { generation: 1 } }]);
    other.acknowledge();
    expect(told).toMatchObject([{ value: { generation: 1 } }, { value: { generation: 2 } }]);
  });

  test('one that restarts takes nothing back', () => {
    const { told, planes, source } = started();
    planes.setAddresses('ns/gw', addresses);
    const first = connect(source);
    first.acknowledge();
    first.close();
    connect(source);
    expect(told).toHaveLength(1);
  });

  test('what was programmed before this controller started stays so', () => {
    const { told, planes } = started(4);
    planes.publish(upserted(listener(5)));
    planes.setAddresses('ns/gw', addresses);
    expect(told).toMatchObject([{ value: { generation: 4, addresses } }]);
  });

  test('problems go by the name of the listener', () => {
    const { told, planes, source } = started();
    planes.setAddresses('ns/gw', addresses);
    connect(source).acknowledge({ key: 'listener/ns/gw/http', message: 'port is taken' }, { key: 'route/x', message: 'no listener' });
    expect(told).toMatchObject([{ value: { listenerProblems: { http: 'port is taken' } } }]);
  });

  test('each owner of listeners has its own generation and problems', () => {
    const { told, planes, source } = started();
    const owner = 'ListenerSet/other/set';
    const ofSet = { ...listener(7), owner, key: 'listener/ns/gw/other/set/http' };
    planes.publish(upserted(ofSet));
    planes.setAddresses('ns/gw', addresses);
    connect(source).acknowledge({ key: ofSet.key, message: 'port is taken' });
    expect(told).toMatchObject([
      { args: ['Gateway', 'ns', 'gw'], value: { generation: 1, listenerProblems: {} } },
      { args: ['ListenerSet', 'other', 'set'], value: { generation: 7, listenerProblems: { http: 'port is taken' } } },
    ]);
    planes.publish({ upserted: new Map(), removed: new Set([ofSet.key]) });
    expect(told.at(-1)).toMatchObject({ args: ['ListenerSet', 'other', 'set'], value: undefined });
  });

  test('a Gateway that goes takes its acknowledgement along', () => {
    const { told, planes, source } = started();
    planes.setAddresses('ns/gw', addresses);
    connect(source).acknowledge();
    planes.forget('ns/gw');
    expect(told.at(-1)).toMatchObject({ value: undefined });
    expect(planes.sourceOf('ns/gw')).toBeUndefined();
  });
});
