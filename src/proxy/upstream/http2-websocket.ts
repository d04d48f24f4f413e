import { createHash } from 'node:crypto';
import { fieldsWhere, valueOf, withoutField } from '../../core/text/fields.ts';
import type { Fields, UpstreamRequest } from '../messages/forwarder.ts';

/** Sixteen bytes in base64 (RFC 6455 section 4.1). */
const soundKey = /^[+/0-9A-Za-z]{22}==$/;

/**
 * Whether an HTTP/1.1 upgrade request can be sent over an HTTP/2 connection whose backend has enabled extended CONNECT in
 * its settings (RFC 8441 section 3). Only WebSocket handshakes of RFC 6455 section 4.1 can.
 */
export function canSwitch({ upgrade, method, fields }: UpstreamRequest): boolean {
  return upgrade?.toLowerCase() === 'websocket' && method === 'GET' && soundKey.test(keyIn(fields));
}

/** Returns the fields of such a request, without the Sec-WebSocket-Key of HTTP/1.1 (RFC 8441 section 5). */
export function withoutKey(fields: Fields): Fields {
  return fieldsWhere(fields, (name) => name !== 'sec-websocket-key');
}

/** Whether a status opens a WebSocket over HTTP/2 (RFC 8441 section 5). */
export function isSwitch(status: number): boolean {
  return status >= 200 && status < 300;
}

/**
 * Returns the fields of a response that opens a WebSocket, with the Sec-WebSocket-Accept that HTTP/1.1 clients require
 * (RFC 6455 section 4.2.2).
 */
export function withProof(answer: Fields, request: Fields): Fields {
  const hash = createHash('sha1')
    .update(`${keyIn(request)}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest('base64');
  return [...withoutField([...answer], 'sec-websocket-accept'), 'sec-websocket-accept', hash];
}

function keyIn(fields: Fields): string {
  return valueOf(fields, 'sec-websocket-key') ?? '';
}
