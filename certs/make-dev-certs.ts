/**
 * Writes a throw-away authority's certificate and a serving certificate with its key into a folder:
 *
 *   node certs/make-dev-certs.ts [FOLDER] [--dns NAME]... [--ip ADDRESS]...
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createAuthority, issueServingCertificate } from '../src/certificates/authority.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    dns: { type: 'string', multiple: true, default: ['localhost'] },
    ip: { type: 'string', multiple: true, default: ['127.0.0.1', '::1'] },
  },
});
const folder = positionals[0] ?? 'certs/dev';
const authority = await createAuthority();
const serving = await issueServingCertificate(authority, { dnsNames: values.dns, ipAddresses: values.ip });

mkdirSync(folder, { recursive: true, mode: 0o700 });
write('tls.key', serving.privateKey, 0o600);
write('tls.crt', serving.certificate, 0o644);
write('ca.crt', authority.certificate, 0o644);

/** Never overwrites: the folder may hold a key that somebody still needs. */
function write(name: string, text: string, mode: number): void {
  const path = join(folder, name);
  try {
    writeFileSync(path, text, { mode, flag: 'wx' });
    console.log(path);
  } catch (error) {
    const exists = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    console.error(
      exists
        ? `${path} exists already; remove it first or name another folder`
        : `cannot write ${path}: ${String(error)}`,
    );
    process.exit(1);
  }
}
