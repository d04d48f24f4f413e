import type { ProxyLimits } from '../limits/limits.ts';
import { ConnectionError, errorCodes, maxPayload, maxWindow, settingIds } from './protocol.ts';

const entryLength = 6;
const used: ReadonlySet<number> = new Set(Object.values(settingIds));

/** The settings of a peer that matter here. `undefined` if a frame does not contain them. */
export interface PeerSettings {
  readonly headerTableSize: number | undefined;
  readonly initialWindowSize: number | undefined;
  readonly maxConcurrentStreams: number | undefined;
  readonly enablePush: number | undefined;
  readonly enableConnectProtocol: number | undefined;
}

type Setting = readonly [id: number, value: number];

/** Returns the payload of the SETTINGS frame that begins each connection of a client. */
export function ownSettings({ streamsPerConnection, headerBytes, streamWindow }: ProxyLimits): Buffer {
  return payloadOf([
    [settingIds.maxConcurrentStreams, streamsPerConnection],
    [settingIds.initialWindowSize, streamWindow],
    [settingIds.maxHeaderListSize, headerBytes],
    [settingIds.enableConnectProtocol, 1],
  ]);
}

/** Returns the payload of the SETTINGS frame that begins each connection to a backend. */
export function settingsForBackends({ headerBytes, streamWindow }: ProxyLimits): Buffer {
  return payloadOf([
    [settingIds.enablePush, 0],
    [settingIds.initialWindowSize, streamWindow],
    [settingIds.maxHeaderListSize, 2 * headerBytes],
  ]);
}

function payloadOf(settings: readonly Setting[]): Buffer {
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
export function parseSettings(payload: Buffer): PeerSettings {
  if (payload.length % entryLength !== 0) throw new ConnectionError(errorCodes.frameSizeError, 'SETTINGS');
  // The last value applies.
  const values = new Map<number, number>();
  for (let position = 0; position < payload.length; position += entryLength) {
    const id = payload.readUInt16BE(position);
    const value = payload.readUInt32BE(position + 2);
    check(id, value);
    // The smallest one: it must be announced (RFC 7541 section 4.2).
    if (id === settingIds.headerTableSize) values.set(id, Math.min(value, values.get(id) ?? value));
    else if (used.has(id)) values.set(id, value);
  }
  return {
    headerTableSize: values.get(settingIds.headerTableSize),
    initialWindowSize: values.get(settingIds.initialWindowSize),
    maxConcurrentStreams: values.get(settingIds.maxConcurrentStreams),
    enablePush: values.get(settingIds.enablePush),
    enableConnectProtocol: values.get(settingIds.enableConnectProtocol),
  };
}

function check(id: number, value: number): void {
  const isFlag = id === settingIds.enablePush || id === settingIds.enableConnectProtocol;
  if (isFlag && value > 1) throw new ConnectionError(errorCodes.protocolError, `setting ${id}`);
  if (id === settingIds.initialWindowSize && value > maxWindow)
    throw new ConnectionError(errorCodes.flowControlError, 'SETTINGS_INITIAL_WINDOW_SIZE');
  if (id === settingIds.maxFrameSize && (value < maxPayload || value > 0xff_ffff))
    throw new ConnectionError(errorCodes.protocolError, 'SETTINGS_MAX_FRAME_SIZE');
}
