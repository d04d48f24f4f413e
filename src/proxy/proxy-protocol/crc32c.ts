/** The reversed polynomial of CRC-32C (RFC 9260 appendix A). */
const polynomial = 0x82f6_3b78;

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = (value & 1) === 1 ? (value >>> 1) ^ polynomial : value >>> 1;
  return value;
});

/** Returns the CRC-32C checksum of bytes. */
export function crc32c(bytes: Buffer): number {
  let value = 0xffff_ffff;
  for (const byte of bytes) value = (value >>> 8) ^ (table[(value ^ byte) & 0xff] ?? 0);
  return (value ^ 0xffff_ffff) >>> 0;
}
