/** Checks of fetch, WebSocket and node:http2. The environment names HTTP_URL and HTTPS_URL, and NODE_EXTRA_CA_CERTS the authority. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:http2';
import type { ClientHttp2Stream } from 'node:http2';
import { content, expectEqual, large, runChecks, sha256 } from './report.ts';
import { encodeFrame, finalText, frameReader } from './websocket-frames.ts';

const httpUrl = process.env['HTTP_URL'] ?? '';
const httpsUrl = process.env['HTTPS_URL'] ?? '';

async function fetchOk(url: string): Promise<void> {
  const response = await fetch(url);
  expectEqual(response.status, 200);
  expectEqual(((await response.json()) as { via: string }).via, '1.1 sallyport');
}

async function upload(body: Buffer<ArrayBuffer> | ReadableStream): Promise<void> {
  const response = await fetch(httpUrl, { method: 'POST', body, duplex: 'half' });
  expectEqual(((await response.json()) as { sha256: string }).sha256, sha256(content(large)));
}

async function download(): Promise<void> {
  const response = await fetch(`${httpUrl}/bytes/${large}`);
  expectEqual(sha256(Buffer.from(await response.arrayBuffer())), sha256(content(large)));
}

/** The browsers' WebSocket (WHATWG): text and binary messages, an orderly close. */
async function webSocket(url: string): Promise<void> {
  const socket = new WebSocket(url.replace('http', 'ws'));
  socket.binaryType = 'arraybuffer';
  const next = (name: string): Promise<unknown> => {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    socket.addEventListener(name, resolve, { once: true });
    socket.addEventListener('error', () => reject(new Error(`error before "${name}"`)), { once: true });
    return promise;
  };
  await next('open');
  for (const message of ['grüße', 'x'.repeat(60_000)]) {
    const answer = next('message');
    socket.send(message);
    expectEqual(((await answer) as MessageEvent).data, message);
  }
  const answer = next('message');
  socket.send(new Uint8Array([0, 255, 128]));
  expectEqual(Buffer.from(((await answer) as MessageEvent).data as ArrayBuffer).toString('hex'), '00ff80');
  const closed = next('close');
  socket.close(1000, 'done');
  expectEqual(((await closed) as CloseEvent).code, 1000);
}

/** A WebSocket over HTTP/2 (RFC 8441), framed by hand. */
async function extendedConnect(url: string): Promise<void> {
  const session = connect(url);
  try {
    await once(session, 'remoteSettings');
    expectEqual(session.remoteSettings.enableConnectProtocol, true);
    const stream: ClientHttp2Stream = session.request({
      ':method': 'CONNECT',
      ':protocol': 'websocket',
      ':path': '/',
      'sec-websocket-version': '13',
    });
    const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
    expectEqual(headers[':status'], 200);
    stream.write(encodeFrame({ first: finalText, payload: Buffer.from('hello') }, randomBytes(4)));
    const read = frameReader();
    for await (const chunk of stream) {
      const [frame] = read(chunk as Buffer);
      if (frame === undefined) continue;
      expectEqual(frame.payload.toString(), 'hello');
      return;
    }
    throw new Error('the stream ended before the message came back');
  } finally {
    session.destroy();
  }
}

/** A hundred requests at a time on one connection. */
async function multiplexed(url: string): Promise<void> {
  const session = connect(url);
  try {
    const one = async (): Promise<void> => {
      const [headers] = (await once(session.request({ ':path': '/' }).resume(), 'response')) as [
        Record<string, unknown>,
      ];
      expectEqual(headers[':status'], 200);
    };
    await Promise.all(Array.from({ length: 100 }, one));
  } finally {
    session.destroy();
  }
}

const version = process.versions.node;
await runChecks({
  name: `Node ${version} fetch`,
  checks: {
    'HTTP/1.1': () => fetchOk(httpUrl),
    HTTPS: () => fetchOk(httpsUrl),
    'upload of 10 MiB': () => upload(content(large)),
    'chunked upload of 10 MiB': () => upload(new Blob([content(large)]).stream()),
    'download of 10 MiB': download,
  },
});
await runChecks({
  name: `Node ${version} WebSocket (WHATWG)`,
  checks: { WebSocket: () => webSocket(httpUrl), 'WebSocket, TLS': () => webSocket(httpsUrl) },
});
await runChecks({
  name: `Node ${version} node:http2`,
  checks: {
    'HTTP/2, prior knowledge': () => multiplexed(httpUrl),
    'HTTP/2, TLS': () => multiplexed(httpsUrl),
    'WebSocket over HTTP/2': () => extendedConnect(httpUrl),
    'WebSocket over HTTP/2, TLS': () => extendedConnect(httpsUrl),
  },
});
