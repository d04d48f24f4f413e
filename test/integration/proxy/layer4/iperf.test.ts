import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test } from '@jest/globals';
import { endpointsConfig } from '../../../support/config.ts';
import { hostOf, layer4Route, startLayer4, tcp, tcpRoute, udp, type Layer4UnderTest } from '../../../support/layer4.ts';
import { closeProxies, throwFault } from '../../../support/proxy.ts';

// iperf3 controls each test by a TCP connection, and sends the data over further ones or UDP, to the same port.
const hasIperf = spawnSync('iperf3', ['--version']).status === 0;
const run = promisify(execFile);

interface Sum {
  readonly bytes: number;
  readonly packets?: number;
  readonly lost_packets?: number;
}

interface Result {
  readonly error?: string;
  readonly end: {
    readonly sum?: Sum;
    readonly sum_sent?: Sum;
    readonly sum_received?: Sum;
    readonly sum_received_bidir_reverse?: Sum;
  };
}

afterEach(closeProxies);

async function freePort(host: string): Promise<number> {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Starts iperf3 behind a TCPRoute and a UDPRoute, whose listeners share a port, and runs its client. The server ends after one test. */
async function measure(
  ...options: readonly string[]
): Promise<{ readonly result: Result; readonly started: Layer4UnderTest }> {
  const serverPort = await freePort('127.0.0.1');
  const server = spawn('iperf3', ['-s', '-1', '-B', '127.0.0.1', '-p', String(serverPort), '--forceflush'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = once(server, 'close');
  try {
    await once(server.stdout, 'data');
    const port = await freePort(hostOf(2));
    const resources = [
      tcp,
      udp,
      endpointsConfig('app', serverPort),
      layer4Route('UDPRoute', udp),
      endpointsConfig('stream', serverPort),
      tcpRoute('stream'),
    ];
    const started = await startLayer4(resources, { bind: () => [{ host: hostOf(2), port }], onFault: throwFault });
    const { stdout } = await run('iperf3', ['-c', hostOf(2), '-p', String(port), '-J', ...options]);
    const result = JSON.parse(stdout) as Result;
    expect(result.error).toBeUndefined();
    return { result, started };
  } finally {
    server.kill();
    await ended;
  }
}

(hasIperf ? describe : describe.skip)('iperf3', () => {
  test.each([
    ['sends', []],
    ['sends by four connections', ['-P', '4']],
    ['receives', ['-R']],
    ['sends and receives', ['--bidir']],
  ])('%s streams through a TCPRoute', async (_, options) => {
    const { result, started } = await measure('-n', '64M', ...options);
    const { sum_sent: sent, sum_received: received, sum_received_bidir_reverse: reverse } = result.end;
    // With both directions, the test ends as soon as one of them has carried all bytes.
    expect(Math.max(sent?.bytes ?? 0, reverse?.bytes ?? 0)).toBeGreaterThanOrEqual(64 * 1024 * 1024);
    // The receiver stops counting when the sender is done, whatever is still on the way.
    expect(received?.bytes).toBeGreaterThan(0);
    if (options.includes('--bidir')) expect(reverse?.bytes).toBeGreaterThan(0);
    expect(started.proxy.counters().upstreamConnectFailures).toBe(0);
  });

  test('sends datagrams through a UDPRoute beside its TCP connection', async () => {
    const { result, started } = await measure('-u', '-b', '4M', '-n', '1M', '-l', '1200');
    const { packets = 0, lost_packets: lost = 0 } = result.end.sum ?? {};
    expect(packets).toBeGreaterThan(800);
    expect(lost).toBeLessThan(packets);
    expect(started.proxy.counters().layer4.droppedDatagrams).toBe(0);
  });
});
