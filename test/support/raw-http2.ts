import type { Socket } from 'node:net';
import { startRawBackend } from './backends.ts';
import type { Backend } from './backends.ts';
import { frame, frameTypes } from './http2.ts';

export type FrameListener = (
  socket: Socket,
  stream: number,
  received: { readonly type: 'headers' | 'data'; readonly payload: Buffer },
) => void;

const prefaceLength = 24;
const frameHead = 9;

/**
 * A backend that answers HTTP/2 requests with frames of the test's own making, however wrong. `onFrame` gets each HEADERS and DATA frame:
 * its stream, its payload and its type. Settings and pings are acknowledged.
 */
export function startRawHttp2Backend(onFrame: FrameListener): Promise<Backend> {
  return startRawBackend((socket) => {
    let held = Buffer.alloc(0);
    let toSkip = prefaceLength;
    socket.on('end', () => socket.end());
    socket.write(frame('settings', 0, 0));
    socket.on('data', (bytes: Buffer) => {
      held = Buffer.concat([held, bytes]);
      if (held.length < toSkip) return;
      held = held.subarray(toSkip);
      toSkip = 0;
      for (let length = wholeFrame(held); length > 0; length = wholeFrame(held)) {
        take(socket, held.subarray(0, length), onFrame);
        held = held.subarray(length);
      }
    });
  });
}

/** How long the frame at the beginning is; 0 where it has not come as a whole. */
function wholeFrame(bytes: Buffer): number {
  if (bytes.length < frameHead) return 0;
  const length = frameHead + bytes.readUIntBE(0, 3);
  return bytes.length < length ? 0 : length;
}

function take(socket: Socket, bytes: Buffer, onFrame: FrameListener): void {
  const [type, flags = 0] = [bytes[3], bytes[4]];
  const payload = bytes.subarray(frameHead);
  if (type === frameTypes.settings && (flags & 1) === 0) socket.write(frame('settings', 1, 0));
  if (type === frameTypes.ping && (flags & 1) === 0) socket.write(frame('ping', 1, 0, payload));
  if (type === frameTypes.headers || type === frameTypes.data)
    onFrame(socket, bytes.readUInt32BE(5) & 0x7fffffff, {
      type: type === frameTypes.data ? 'data' : 'headers',
      payload,
    });
}
