/** Numbers and errors of HTTP/2 (RFC 9113). */

/** Frame types (RFC 9113 section 6). */
export const frameTypes = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

/** Flags of frames. `acknowledgement` is of SETTINGS and PING. */
export const frameFlags = {
  endStream: 0x1,
  acknowledgement: 0x1,
  endHeaders: 0x4,
  padded: 0x8,
  priority: 0x20,
} as const;

/** Settings (RFC 9113 section 6.5.2; RFC 8441 section 3). */
export const settingIds = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
  enableConnectProtocol: 8,
} as const;

/** Error codes (RFC 9113 section 7). */
export const errorCodes = {
  noError: 0,
  protocolError: 1,
  internalError: 2,
  flowControlError: 3,
  streamClosed: 5,
  frameSizeError: 6,
  refusedStream: 7,
  cancel: 8,
  compressionError: 9,
  enhanceYourCalm: 11,
} as const;

/** The length of a client's preface and of a frame head (RFC 9113 sections 3.4 and 4.1). */
export const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
export const frameHeadLength = 9;

/** The largest payload in both directions: nobody announces another one, and none is used. */
export const maxPayload = 16_384;
export const initialWindow = 65_535;
export const maxWindow = 0x7fff_ffff;

/** The peer violates the protocol in a way that ends its connection (RFC 9113 section 5.4.1). */
export class ConnectionError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}
