import { expect, test } from '@jest/globals';
import { detectProtocol } from '../../../../src/proxy/listen/peek.ts';

test.each([
  ['\x16\x03\x01', 'tls'],
  ['\x16', 'tls'],
  ['GET / HTTP/1.1\r\n', 'http1'],
  ['P', undefined],
  ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r', undefined],
  ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'http2'],
  ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0', 'http2'],
  ['PRI * HTTP/1.1\r\n', 'http1'],
  ['POST', 'http1'],
  ['\0', 'http1'],
])('%j opens %s', (bytes, protocol) => {
  expect(detectProtocol(Buffer.from(bytes, 'latin1'))).toBe(protocol);
});
