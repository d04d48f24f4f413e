import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';

/** A file or folder inside an archive. `path` has no leading slash; `mode` are the permission bits. */
export interface Entry {
  readonly path: string;
  readonly mode: number;
  /** Left out for a folder. */
  readonly content?: Buffer;
}

/** What a container runs, by the field names of the OCI image configuration. */
export interface ImageConfig {
  readonly Entrypoint: readonly string[];
  readonly Env?: readonly string[];
  readonly User?: string;
  readonly WorkingDir?: string;
}

const block = 512;
const emptyBlock = Buffer.alloc(block);
const longestPath = 100;
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/**
 * Writes an image of one layer as an OCI archive, which containerd imports under every one of `references`. The same
 * entries give the same bytes. Made by hand, so that no builder and no registry is needed.
 */
export function writeOciArchive(
  out: string,
  references: readonly string[],
  image: { readonly config: ImageConfig; readonly layer: readonly Entry[] },
): void {
  const folders = [
    { path: 'tmp', mode: 0o1777 },
    { path: 'etc', mode: 0o755 },
  ];
  const layer = describe('application/vnd.oci.image.layer.v1.tar', tar([...folders, ...image.layer]));
  const config = describeJson('application/vnd.oci.image.config.v1+json', {
    architecture: architectures[process.arch] ?? process.arch,
    os: 'linux',
    config: image.config,
    rootfs: { type: 'layers', diff_ids: [layer.digest] },
  });
  const manifest = describeJson('application/vnd.oci.image.manifest.v1+json', {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: descriptor(config),
    layers: [descriptor(layer)],
  });
  const manifests = references.map((reference) => ({
    ...descriptor(manifest),
    annotations: { 'io.containerd.image.name': reference },
  }));
  const archive = tar([
    { path: 'oci-layout', mode: 0o644, content: Buffer.from('{"imageLayoutVersion":"1.0.0"}') },
    { path: 'index.json', mode: 0o644, content: Buffer.from(JSON.stringify({ schemaVersion: 2, manifests })) },
    ...[layer, config, manifest].map(({ digest, content }) => ({
      path: `blobs/${digest.replace(':', '/')}`,
      mode: 0o644,
      content,
    })),
  ]);
  writeFileSync(out, Buffer.concat(archive));
}

interface Blob {
  readonly mediaType: string;
  readonly digest: string;
  readonly content: Buffer;
}

function describe(mediaType: string, parts: readonly Buffer[]): Blob {
  const content = Buffer.concat(parts);
  return { mediaType, digest: `sha256:${createHash('sha256').update(content).digest('hex')}`, content };
}

function describeJson(mediaType: string, value: unknown): Blob {
  return describe(mediaType, [Buffer.from(JSON.stringify(value))]);
}

function descriptor({ mediaType, digest, content }: Blob): object {
  return { mediaType, digest, size: content.length };
}

/** The blocks of a POSIX (ustar) archive; everything belongs to root and is as old as Unix. */
function tar(entries: readonly Entry[]): readonly Buffer[] {
  const files = entries.flatMap((entry) => {
    const { content = Buffer.alloc(0) } = entry;
    return [header(entry), content, Buffer.alloc((block - (content.length % block)) % block)];
  });
  return [...files, emptyBlock, emptyBlock];
}

function header({ path, mode, content }: Entry): Buffer {
  if (Buffer.byteLength(path) > longestPath)
    throw new Error(`${path} is longer than ${longestPath} bytes, which an archive of this kind cannot name`);
  const bytes = Buffer.alloc(block);
  const octal = (value: number, length: number): string => value.toString(8).padStart(length, '0');
  bytes.write(path, 0);
  bytes.write(octal(mode, 7), 100);
  bytes.write(octal(0, 7), 108); // owner
  bytes.write(octal(0, 7), 116); // group
  bytes.write(octal(content?.length ?? 0, 11), 124);
  bytes.write(octal(0, 11), 136); // time
  bytes.write(' '.repeat(8), 148); // the checksum counts itself as blanks
  bytes.write(content === undefined ? '5' : '0', 156);
  bytes.write('ustar\u000000', 257);
  bytes.write(
    `${octal(
      bytes.reduce((sum, byte) => sum + byte, 0),
      6,
    )}\u0000 `,
    148,
  );
  return bytes;
}
