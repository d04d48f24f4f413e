import { createSocket, type RemoteInfo, type Socket as Datagrams } from 'node:dgram';
import { readFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { readBuffer, readPiece } from '../../../src/proxy/limits/read-buffer.ts';
import { readInto } from '../../../src/proxy/sockets/direct.ts';
import { Output } from '../../../src/proxy/sockets/output.ts';
import { tlsPolicy } from '../../../src/proxy/sockets/tls-policy.ts';
import type { Setting } from './configurations.ts';

// The least that Node takes: relays the bytes of each connection to a connection of its own, and the datagrams of each client to a
// socket of its own, without reading them. No routes, limits, timeouts, back pressure or metrics. Prints nothing.
// usage: node bare-node.ts SETTING-AS-JSON

const host = '127.0.0.1';
const { ports, backends, pem } = JSON.parse(process.argv[2] ?? '') as Setting;

relayConnections(ports.http, backends.http);
relayConnections(ports.tcp, backends.http);
relayConnections(ports.webSocket, backends.webSocket);
terminateTls(ports.https, backends.http);
relayDatagrams(ports.udp, backends.udp);

function relayConnections(port: number, backend: number): void {
  createServer({ pauseOnConnect: true, noDelay: true }, (client) => {
    const upstream = connect({ host, port: backend, noDelay: true }, () => {
      pass(client, upstream);
      pass(upstream, client);
    });
    endTogether(client, upstream);
  }).listen(port, host);
}

/** Passes bytes on without the streams of the sockets. */
function pass(from: Socket, to: Socket): void {
  const output = new Output(to, () => undefined);
  if (!readInto(from, readBuffer, (length) => output.writeBytes(readPiece(length))))
    from.on('data', (bytes) => to.write(bytes));
  from.resume();
}

/** Connects to the backend with the first bytes: handshakes need none. */
function terminateTls(port: number, backend: number): void {
  const pair = readFileSync(pem);
  createTlsServer({ ...tlsPolicy, cert: pair, key: pair, noDelay: true }, (client) => {
    let upstream: Socket | undefined;
    client.on('error', () => client.destroy());
    client.on('data', (bytes) => {
      if (upstream === undefined) {
        upstream = connect({ host, port: backend, noDelay: true });
        upstream.on('data', (answer) => client.write(answer));
        endTogether(client, upstream);
      }
      upstream.write(bytes);
    });
  }).listen(port, host);
}

function endTogether(one: Socket, other: Socket): void {
  one.on('close', () => other.destroy()).on('error', () => one.destroy());
  other.on('close', () => one.destroy()).on('error', () => other.destroy());
}

function relayDatagrams(port: number, backend: number): void {
  const flows = new Map<string, Datagrams>();
  const clients = createSocket({ type: 'udp4', recvBufferSize: 2 ** 20 });
  const open = (key: string, from: RemoteInfo): Datagrams => {
    const flow = createSocket({ type: 'udp4', lookup: (name, _options, done) => done(null, name, 4) });
    flow.connect(backend, host);
    flow.on('message', (message) => clients.send(message, from.port, from.address)).on('error', () => undefined);
    flows.set(key, flow);
    return flow;
  };
  clients.on('message', (message, from) => {
    const key = `${from.address} ${from.port}`;
    (flows.get(key) ?? open(key, from)).send(message);
  });
  clients.bind(port, host);
}
