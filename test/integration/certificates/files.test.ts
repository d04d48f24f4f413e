import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  certificateExpiry,
  createAuthority,
  issueServingCertificate,
  validFor,
  watchCertificateFiles,
  type CertificateMaterial,
  type WatchedCertificate,
} from '../../../src/certificates/index.ts';
import { createLogger } from '../../../src/telemetry/index.ts';

let first: CertificateMaterial;
let second: CertificateMaterial;
let folder: string;
let logged: string[];
let watched: WatchedCertificate | undefined;

beforeAll(async () => {
  const authority = await createAuthority();
  const names = { dnsNames: ['localhost'], ipAddresses: [] };
  first = await issueServingCertificate(authority, names, validFor(1, new Date('2030-01-01T00:00:00Z')));
  second = await issueServingCertificate(authority, names);
});

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'certificate-files-'));
  logged = [];
  watched = undefined;
});

afterEach(async () => {
  await watched?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const log = createLogger('info', { write: (line) => logged.push(line) });

function write(into: string, { certificate, privateKey }: CertificateMaterial): void {
  mkdirSync(into, { recursive: true });
  writeFileSync(join(into, 'tls.crt'), certificate);
  writeFileSync(join(into, 'tls.key'), privateKey);
}

async function follow(into = folder) {
  watched = await watchCertificateFiles(
    { certificateFile: join(into, 'tls.crt'), privateKeyFile: join(into, 'tls.key') },
    log,
  );
  const { source } = watched;
  const changed = (): Promise<void> => new Promise((resolve) => void source.onChange(resolve));
  return { source, changed };
}

/** Resolves with the next line of the log. */
function nextLine(): Promise<string> {
  const { length } = logged;
  return new Promise((resolve) => {
    const look = setInterval(() => {
      if (logged.length <= length) return;
      clearInterval(look);
      resolve(logged[length] ?? '');
    }, 5);
  });
}

describe('watchCertificateFiles', () => {
  test('takes the files that are there, and new ones when they come', async () => {
    write(folder, first);
    const { source, changed } = await follow();
    expect(source.current()).toEqual(first);
    const change = changed();
    write(folder, second);
    await change;
    expect(source.current()).toEqual(second);
  });

  test('follows a Secret volume, which is replaced by renaming a link', async () => {
    write(join(folder, '..one'), first);
    symlinkSync('..one', join(folder, '..data'));
    for (const name of ['tls.crt', 'tls.key']) symlinkSync(join('..data', name), join(folder, name));
    const { source, changed } = await follow();
    const change = changed();
    write(join(folder, '..two'), second);
    symlinkSync('..two', join(folder, '..new'));
    renameSync(join(folder, '..new'), join(folder, '..data'));
    await change;
    expect(source.current()).toEqual(second);
  });

  test('keeps the old pair when the new one does not fit together, says so, and takes it once it does', async () => {
    write(folder, first);
    const { source, changed } = await follow();
    const line = nextLine();
    writeFileSync(join(folder, 'tls.crt'), second.certificate);
    expect(await line).toContain('tls.key does not match the first certificate');
    expect(source.current()).toEqual(first);
    const change = changed();
    writeFileSync(join(folder, 'tls.key'), second.privateKey);
    await change;
    expect(source.current()).toEqual(second);
    expect(logged.join('')).not.toContain('PRIVATE KEY');
  });

  test('keeps the old pair when the files vanish', async () => {
    write(folder, first);
    const { source } = await follow();
    const line = nextLine();
    rmSync(join(folder, 'tls.crt'));
    expect(await line).toContain('ENOENT');
    expect(source.current()).toEqual(first);
  });

  test.each([
    ['a named pipe', (file: string) => void execFileSync('mkfifo', [file]), 'not a regular file'],
    ['an endless device', (file: string) => symlinkSync('/dev/zero', file), 'not a regular file'],
    ['a folder', (file: string) => mkdirSync(file), 'a folder instead of a file'],
    [
      'a huge file',
      (file: string) => writeFileSync(file, ' '.repeat(1_048_577)),
      'the file has 1048577 bytes, more than the limit of 1048576',
    ],
  ])('%s in place of a file is reported and not read', async (_, put, problem) => {
    write(folder, first);
    const key = join(folder, 'tls.key');
    rmSync(key);
    put(key);
    await expect(follow()).rejects.toThrow(`${key}: ${problem}`);
  });

  test('refuses to start without a pair that can be used', async () => {
    await expect(follow()).rejects.toThrow('ENOENT');
    write(folder, { certificate: first.certificate, privateKey: second.privateKey });
    await expect(follow()).rejects.toThrow(
      `${join(folder, 'tls.key')} does not match the first certificate in ${join(folder, 'tls.crt')}`,
    );
  });
});

test('certificateExpiry reads seconds since 1970, where it can', () => {
  expect(certificateExpiry(first)).toBe(Date.UTC(2030, 0, 2) / 1000);
  expect(certificateExpiry({ certificate: 'no', privateKey: '' })).toBeUndefined();
});
