import { describe, expect, test } from '@jest/globals';
import { maxHops } from '../../../../src/core/text/via.ts';
import { OwnConnections, type Ends, type Pass } from '../../../../src/proxy/layer4/own-connections.ts';

const listener = { host: '127.0.0.1', port: 5432 };
const backend = { host: '127.0.0.1', port: 9000 };
const from = (port: number): Ends['from'] => ({ host: '127.0.0.1', port });

function passes(count: number): readonly (Pass & { hasLooped: boolean })[] {
  return Array.from({ length: count }, () => {
    const pass = { cameFrom: undefined, hasLooped: false, looped: () => void (pass.hasLooped = true) };
    return pass;
  });
}

/** Connections from consecutive ports, each of which opens a connection with the port of the next one. */
function inLockstep(opened: Ends['to']): readonly boolean[] {
  const connections = new OwnConnections(0);
  const all = passes(maxHops + 3);
  for (const [index, pass] of all.entries()) {
    connections.arrive({ from: from(40_000 + index), to: listener }, pass);
    connections.open({ from: from(40_001 + index), to: opened }, pass);
  }
  return all.map(({ hasLooped }) => hasLooped);
}

describe('connections whose local ports are the ports of other clients', () => {
  test('are a loop if they lead to the listener', () => {
    expect(inLockstep(listener)).toContain(true);
  });

  test('are no loop if they lead elsewhere: the system gives one port to connections to different addresses', () => {
    expect(inLockstep(backend)).not.toContain(true);
  });
});
