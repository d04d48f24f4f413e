import type { X509Certificate } from 'node:crypto';
import { hostnameKey } from '../core/text/hostname.ts';

/**
 * The DNS entries of the subject alternative name of a certificate, in lower case. Node prints them as `DNS:a.example, IP
 * Address:127.0.0.1`. Entries with unusual characters are quoted. A quoted entry is read as a whole, so that it cannot pass as several.
 */
export function dnsNamesOf({ subjectAltName = '' }: X509Certificate): readonly string[] {
  const entry = /([^:,"]+):("(?:[^"\\]|\\.)*"|[^,"]*)(?:, |$)/y;
  const names: string[] = [];
  for (let found = entry.exec(subjectAltName); found !== null; found = entry.exec(subjectAltName)) {
    const [, kind, value = ''] = found;
    if (kind === 'DNS' && !value.startsWith('"')) names.push(hostnameKey(value));
  }
  return names;
}
