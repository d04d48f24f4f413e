/** The first bytes of both versions of the header; no other protocol that is served begins with one of them. */
export const starts = {
  v1: Buffer.from('PROXY '),
  v2: Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1'),
} as const;

/** Bytes of the longest header of version 1, with its end of line. */
export const longestV1 = 107;

/** Bytes of a header of version 2 before its addresses: the start, the command, the family, and the length of the rest. */
export const fixedV2 = 16;

/** The byte that stands for a family of addresses and a transport, and the bytes of its two addresses with their ports. */
export const families = {
  unknown: { code: 0x00, size: 0 },
  tcp4: { code: 0x11, size: 12 },
  udp4: { code: 0x12, size: 12 },
  tcp6: { code: 0x21, size: 36 },
  udp6: { code: 0x22, size: 36 },
  unixStream: { code: 0x31, size: 216 },
  unixDatagram: { code: 0x32, size: 216 },
} as const;
