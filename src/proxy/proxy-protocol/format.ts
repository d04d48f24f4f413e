/** The first bytes of both header versions. No other served protocol begins with them. */
export const starts = {
  v1: Buffer.from('PROXY '),
  v2: Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1'),
} as const;

/** Maximum length of a version 1 header in bytes, including its line end. */
export const longestV1 = 107;

/** Length of a version 2 header before its addresses: signature, command, family, and length of the rest. */
export const fixedV2 = 16;

/** The code of an address family and transport, and the size of its two addresses and ports in bytes. */
export const families = {
  unknown: { code: 0x00, size: 0 },
  tcp4: { code: 0x11, size: 12 },
  udp4: { code: 0x12, size: 12 },
  tcp6: { code: 0x21, size: 36 },
  udp6: { code: 0x22, size: 36 },
  unixStream: { code: 0x31, size: 216 },
  unixDatagram: { code: 0x32, size: 216 },
} as const;
