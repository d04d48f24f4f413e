/** The messages that clients and backends exchange, ready to send. */

/** Bytes of a message without framing. */
export const messageSize = 1024;

const payload = Buffer.alloc(messageSize, 'x');

/** A binary WebSocket message from a client: masked, with a mask of zeros. */
export const clientFrame = Buffer.concat([Buffer.from([0x82, 0xfe, 4, 0, 0, 0, 0, 0]), payload]);

/** A binary WebSocket message from a server. */
export const serverFrame = Buffer.concat([Buffer.from([0x82, 0x7e, 4, 0]), payload]);

/** A message of gRPC: not compressed, length, content. */
export const grpcMessage = Buffer.concat([Buffer.from([0, 0, 0, 4, 0]), payload]);

export const datagram = payload;
