/** A WebSocket frame without its mask (RFC 6455 section 5.2). */
export interface Frame {
  /** The first byte: FIN and opcode. */
  readonly first: number;
  readonly payload: Buffer;
}

export const finalText = 0x81;
export const finalClose = 0x88;
export const finalPing = 0x89;
export const finalPong = 0x8a;

/** The bytes of a frame. Clients pass the four bytes of a mask, servers none (RFC 6455 section 5.3). */
export function encodeFrame({ first, payload }: Frame, mask?: Buffer): Buffer {
  const masked = mask === undefined ? 0 : 0x80;
  const head = Buffer.from(
    payload.length < 126
      ? [first, masked | payload.length]
      : [first, masked | 126, payload.length >> 8, payload.length & 0xff],
  );
  if (payload.length > 0xffff) throw new RangeError(`a frame of ${payload.length} bytes is too long for these tests`);
  return mask === undefined ? Buffer.concat([head, payload]) : Buffer.concat([head, mask, unmask(payload, mask)]);
}

/** @returns a function that takes the next bytes of a connection and returns the frames that they complete */
export function frameReader(): (chunk: Buffer) => Frame[] {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    const frames: Frame[] = [];
    for (let found = firstFrame(rest); found !== undefined; found = firstFrame(rest)) {
      frames.push(found.frame);
      rest = rest.subarray(found.end);
    }
    return frames;
  };
}

function firstFrame(bytes: Buffer): { readonly frame: Frame; readonly end: number } | undefined {
  if (bytes.length < 2) return undefined;
  const short = bytes.readUInt8(1) & 0x7f;
  const isMasked = bytes.readUInt8(1) > 0x7f;
  const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
  const start = 2 + lengthBytes + (isMasked ? 4 : 0);
  if (bytes.length < start) return undefined;
  const length =
    lengthBytes === 0 ? short : lengthBytes === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  const end = start + length;
  if (bytes.length < end) return undefined;
  const sent = bytes.subarray(start, end);
  return {
    end,
    frame: { first: bytes.readUInt8(0), payload: isMasked ? unmask(sent, bytes.subarray(start - 4, start)) : sent },
  };
}

function unmask(payload: Buffer, mask: Buffer): Buffer {
  return Buffer.from(payload.map((byte, index) => byte ^ (mask[index % 4] ?? 0)));
}
