import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, versionOf } from './process.ts';
import { content, expectEqual, large, sha256 } from './report.ts';
import type { InstalledClient, Place } from './report.ts';

/** curl: versions of HTTP, both ways of framing a body, and connections that are kept. */
export const curlClient: InstalledClient = {
  command: 'curl',
  checksAt: (at) => {
    const named = `https://shop.example:${at.https}/`;
    const trusting = ['--cacert', at.caFile, '--connect-to', `shop.example:${at.https}:${at.host}:${at.https}`];
    const file = join(at.folder, 'upload');
    writeFileSync(file, content(large));
    return {
      name: `curl ${versionOf('curl')}`,
      checks: {
        'HTTP/1.0': () => expectVersion('1.1', '--http1.0', at.httpUrl),
        'HTTP/1.1': () => expectVersion('1.1', '--http1.1', at.httpUrl),
        HEAD: () => expectVersion('1.1', '--head', at.httpUrl),
        HTTPS: () => expectVersion('1.1', '--http1.1', ...trusting, named),
        'HTTP/2, Upgrade: h2c': () => expectVersion('1.1', '--http2', at.httpUrl),
        'HTTP/2, prior knowledge': () => expectVersion('2', '--http2-prior-knowledge', at.httpUrl),
        'HTTP/2, TLS': () => expectVersion('2', '--http2', ...trusting, named),
        'keep-alive': () => keepAlive(at.httpUrl, '--http1.1'),
        // Over TLS, because curl 7.88 cannot use a connection twice that it began by prior knowledge (curl issue 10634).
        'keep-alive, HTTP/2': () => keepAlive(named, '--http2', ...trusting),
        'Expect: 100-continue': () => expecting(at, file),
        'upload of 10 MiB': () => upload(at, '--http1.1', '-T', file),
        'chunked upload of 10 MiB': () => upload(at, '--http1.1', '-T', '-'),
        'download of 10 MiB': () => download(at, '--http1.1'),
        'upload of 10 MiB, HTTP/2': () => upload(at, '--http2-prior-knowledge', '-T', file),
        'download of 10 MiB, HTTP/2': () => download(at, '--http2-prior-knowledge'),
      },
    };
  },
};

async function curl(args: readonly string[], input?: Buffer): Promise<Buffer> {
  return run('curl', ['--silent', '--show-error', '--max-time', '60', '--noproxy', '*', ...args], input);
}

/** The version of the response, which is 1.1 even where the request is HTTP/1.0 (RFC 9110 section 6.2). */
async function expectVersion(version: string, ...args: readonly string[]): Promise<void> {
  const printed = await curl(['--output', '/dev/null', '--write-out', '%{http_version} %{http_code}', ...args]);
  expectEqual(printed.toString(), `${version} 200`);
}

async function keepAlive(url: string, ...args: readonly string[]): Promise<void> {
  const once = ['--output', '/dev/null', url];
  const printed = await curl([...args, '--write-out', '%{http_code} %{num_connects};', ...once, ...once, ...once]);
  expectEqual(printed.toString(), '200 1;200 0;200 0;');
}

/** Fails where curl sends the body because it no longer waits. */
async function expecting({ httpUrl }: Place, file: string): Promise<void> {
  const printed = await curl([
    '--http1.1',
    '--header',
    'Expect: 100-continue',
    '--expect100-timeout',
    '50',
    '--dump-header',
    '-',
    '--output',
    '/dev/null',
    '-T',
    file,
    httpUrl,
  ]);
  expectEqual(
    printed
      .toString()
      .match(/^HTTP\/1\.1 \d+/gm)
      ?.join(),
    'HTTP/1.1 100,HTTP/1.1 200',
  );
}

async function upload({ httpUrl }: Place, ...args: readonly string[]): Promise<void> {
  const printed = await curl([...args, httpUrl], content(large));
  expectEqual((JSON.parse(printed.toString()) as { sha256: string }).sha256, sha256(content(large)));
}

async function download({ httpUrl }: Place, version: string): Promise<void> {
  expectEqual(sha256(await curl([version, `${httpUrl}/bytes/${large}`])), sha256(content(large)));
}
