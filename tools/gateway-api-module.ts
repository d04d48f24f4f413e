import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';

const modulePath = 'sigs.k8s.io/gateway-api';

/**
 * The zip of the official Go module at a version such as v1.7.0, from `go mod download` and its cache. Go downloads it even if it is
 * too old to use the module, and reports both. Throws if Go is not installed or the version does not exist.
 */
export function gatewayApiModule(version: string): Buffer {
  const go = spawnSync('go', ['mod', 'download', '-json', `${modulePath}@${version}`], {
    encoding: 'utf8',
    cwd: tmpdir(),
    timeout: 120_000,
  });
  const answer =
    go.error !== undefined || go.stdout === ''
      ? {}
      : (JSON.parse(go.stdout) as { readonly Zip?: string; readonly Error?: string });
  if (answer.Zip !== undefined) return readFileSync(answer.Zip);
  throw new Error(
    `cannot get ${modulePath}@${version} with go mod download: ${answer.Error ?? go.error?.message ?? go.stderr}`,
  );
}
