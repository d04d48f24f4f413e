import { inflateRawSync } from 'node:zlib';

const endSignature = Buffer.from([0x50, 0x4b, 0x05, 0x06]);
const stored = 0;

/**
 * The files of a ZIP archive whose names pass `wanted`, as text. Supports the format of Go's module zips: no encryption, no ZIP64, stored
 * or deflated entries.
 */
export function readZip(archive: Buffer, wanted: (name: string) => boolean): ReadonlyMap<string, string> {
  const end = archive.lastIndexOf(endSignature);
  if (end === -1) throw new Error('not a ZIP archive: it has no central directory');
  const files = new Map<string, string>();
  let entry = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left -= 1) {
    const nameLength = archive.readUInt16LE(entry + 28);
    const name = archive.toString('utf8', entry + 46, entry + 46 + nameLength);
    if (wanted(name)) files.set(name, contentOf(archive, entry));
    entry += 46 + nameLength + archive.readUInt16LE(entry + 30) + archive.readUInt16LE(entry + 32);
  }
  return files;
}

/** The content of the file of the central directory entry at this offset. */
function contentOf(archive: Buffer, entry: number): string {
  const method = archive.readUInt16LE(entry + 10);
  const size = archive.readUInt32LE(entry + 20);
  const header = archive.readUInt32LE(entry + 42);
  const start = header + 30 + archive.readUInt16LE(header + 26) + archive.readUInt16LE(header + 28);
  const packed = archive.subarray(start, start + size);
  return (method === stored ? packed : inflateRawSync(packed)).toString('utf8');
}
