import { Readable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import type { UpstreamRequest } from '../../../../src/proxy/messages/forwarder.ts';
import { requestHead } from '../../../../src/proxy/upstream/request-writer.ts';
import { upstreamRequest } from '../../../support/upstream-request.ts';

const body = Readable.from([]);

function head(parts: Partial<UpstreamRequest>): readonly string[] | undefined {
  return requestHead(upstreamRequest({ upstream: { host: '::1', port: 80 }, ...parts }))?.split('\r\n');
}

describe('the head of a request', () => {
  test.each<[string, Partial<UpstreamRequest>, readonly string[]]>([
    [
      'without a body',
      { target: '/a?b', fields: ['Host', 'a', 'X-A', 'b\xe9'] },
      ['GET /a?b HTTP/1.1', 'Host: a', 'X-A: b\xe9', 'connection: keep-alive'],
    ],
    [
      'says that a body is not there',
      { method: 'POST' },
      ['POST / HTTP/1.1', 'host: a', 'connection: keep-alive', 'content-length: 0'],
    ],
    [
      'with a length',
      { method: 'POST', body, fields: ['host', 'a', 'Content-Length', '3'] },
      ['POST / HTTP/1.1', 'host: a', 'Content-Length: 3', 'connection: keep-alive'],
    ],
    [
      'without a length',
      { body },
      ['GET / HTTP/1.1', 'host: a', 'connection: keep-alive', 'transfer-encoding: chunked'],
    ],
    [
      'for a switch',
      { upgrade: 'websocket' },
      ['GET / HTTP/1.1', 'host: a', 'connection: upgrade', 'upgrade: websocket'],
    ],
    [
      'names the endpoint where no host was named',
      { fields: [] },
      ['GET / HTTP/1.1', 'host: [::1]:80', 'connection: keep-alive'],
    ],
  ])('%s', (_name, parts, lines) => {
    expect(head(parts)).toEqual([...lines, '', '']);
  });

  test.each<[string, Partial<UpstreamRequest>]>([
    ['a method that is no token', { method: 'GET /' }],
    ['no method', { method: '' }],
    ['no target', { target: '' }],
    ['a blank in the target', { target: '/a b' }],
    ['a line break in the target', { target: '/a\r\nX-A:' }],
    ['a target beyond Latin-1', { target: '/\u0100' }],
    ['a name that is no token', { fields: ['x a', 'b'] }],
    ['a line break in a name', { fields: ['x\r\na', 'b'] }],
    ['a line break in a value', { fields: ['x-a', 'b\r\nx-c: d'] }],
    ['a bare line feed in a value', { fields: ['x-a', 'b\nx-c: d'] }],
    ['a NUL in a value', { fields: ['x-a', 'b\0'] }],
    ['a value beyond Latin-1', { fields: ['x-a', '\u010a'] }],
  ])('%s is not sent', (_name, parts) => {
    expect(head(parts)).toBeUndefined();
  });
});
