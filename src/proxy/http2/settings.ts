import type { ProxyLimits } from '../limits/limits.ts';
import { ConnectionError, errorCodes, maxPayload, maxWindow, settingIds } from './protocol.ts';

const entryLength = 6;

/** The settings of the client that matter here. `undefined` if a frame does not contain them. */
export interface ClientSettings {
  readonly headerTableSize: number | undefined;
  readonly initialWindowSize: number | undefined;
}

/** Returns the payload of the SETTINGS frame that begins each connection. */
export function ownSettings({ streamsPerConnection, headerBytes, streamWindow }: ProxyLimits): Buffer {
  const settings: readonly (readonly [number, number])[] = [
    [settingIds.maxConcurrentStreams, streamsPerConnection],
    [settingIds.initialWindowSize, streamWindow],
    [settingIds.maxHeaderListSize, headerBytes],
    [settingIds.enableConnectProtocol, 1],
  ];
  const payload = Buffer.alloc(settings.length * entryLength);
  for (const [index, [id, value]] of settings.entries()) {
    payload.writeUInt16BE(id, index * entryLength);
    payload.writeUInt32BE(value, index * entryLength + 2);
  }
  return payload;
}

/**
 * Parses the payload of a SETTINGS frame (RFC 9113 section 6.5).
 *
 * @throws ConnectionError on invalid values
 */
export function parseSettings(payload: Buffer): ClientSettings {
  if (payload.length % entryLength !== 0) throw new ConnectionError(errorCodes.frameSizeError, 'SETTINGS');
  // The last value applies.
  let headerTableSize: number | undefined;
  let initialWindowSize: number | undefined;
  for (let position = 0; position < payload.length; position += entryLength) {
    const id = payload.readUInt16BE(position);
    const value = payload.readUInt32BE(position + 2);
    check(id, value);
    if (id === settingIds.headerTableSize) headerTableSize = Math.min(value, headerTableSize ?? value);
    if (id === settingIds.initialWindowSize) initialWindowSize = value;
  }
  return { headerTableSize, initialWindowSize };
}

function check(id: number, value: number): void {
  const isFlag = id === settingIds.enablePush || id === settingIds.enableConnectProtocol;
  if (isFlag && value > 1) throw new ConnectionError(errorCodes.protocolError, `setting ${id}`);
  if (id === settingIds.initialWindowSize && value > maxWindow)
    throw new ConnectionError(errorCodes.flowControlError, 'SETTINGS_INITIAL_WINDOW_SIZE');
  if (id === settingIds.maxFrameSize && (value < maxPayload || value > 0xff_ffff))
    throw new ConnectionError(errorCodes.protocolError, 'SETTINGS_MAX_FRAME_SIZE');
}
