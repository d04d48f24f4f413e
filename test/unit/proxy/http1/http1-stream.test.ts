import { duplexPair } from 'node:stream';
import type { Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import type { Connection } from '../../../../src/proxy/messages/connection.ts';
import { Output } from '../../../../src/proxy/sockets/output.ts';
import { Http1Stream, type Carrier } from '../../../../src/proxy/http1/http1-stream.ts';

test('a response on an HTTP/1 connection has one head', () => {
  const [socket, client] = duplexPair();
  const carrier: Carrier = {
    socket: socket as Socket,
    output: new Output(socket as Socket, () => undefined),
    connection: { peer: { address: '127.0.0.1', scheme: 'http' } } as Connection,
    keepsFor: 1,
    isEnding: false,
    bodyWanted: () => undefined,
    responseSent: () => undefined,
  };
  const raw = { method: 'GET', url: '/', httpVersion: '1.1', rawHeaders: [] };
  const stream = new Http1Stream(carrier, raw, 'expectation-failed');
  stream.writeHead(417, ['content-length', '0']);
  stream.end([]);
  expect(() => stream.writeHead(200, ['content-length', '0'])).toThrow('already has a head');
  stream.flushHead();
  const sent = String(client.read());
  expect(sent).toMatch(/^HTTP\/1\.1 417 /);
  expect(sent.split('HTTP/1.1')).toHaveLength(2);
});
