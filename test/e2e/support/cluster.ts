import { afterAll, beforeAll } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crdManifests } from '../../cluster/crd-manifests.ts';
import { kubectl, kubectlOutput } from './kubectl.ts';
import { waitFor } from './wait.ts';

/** The project's image as the cluster knows it. */
export const image = process.env['IMAGE'] ?? 'localhost/sallyport:dev';

/** State folder of our own test cluster; undefined in a cluster of somebody else, where nobody can look behind the API. */
export const clusterState = process.env['CLUSTER_STATE'];

/** Events of the API server's audit log so far, oldest first; undefined in a cluster of somebody else. */
export async function auditEvents(): Promise<readonly AuditEvent[] | undefined> {
  if (clusterState === undefined) return undefined;
  const lines = (await readFile(join(clusterState, 'log/audit.log'), 'utf8')).split('\n');
  // The last line may be half written.
  return lines.slice(0, -1).map((line) => JSON.parse(line) as AuditEvent);
}

/** The part of an audit event (audit.k8s.io/v1, level Metadata) that tests look at. */
export interface AuditEvent {
  readonly auditID: string;
  readonly stage: 'ResponseStarted' | 'ResponseComplete' | 'Panic';
  readonly verb: string;
  readonly requestURI: string;
  /** Without a name where the request came without credentials. */
  readonly user: { readonly username?: string };
  readonly objectRef?: {
    readonly resource: string;
    readonly apiGroup?: string;
    readonly apiVersion?: string;
    readonly namespace?: string;
    readonly name?: string;
    readonly subresource?: string;
  };
  readonly responseStatus?: { readonly code: number; readonly reason?: string };
  readonly annotations?: Readonly<Record<string, string>>;
  readonly requestReceivedTimestamp: string;
}

/** A namespace for the tests of this file, with the restricted Pod Security Standard; gone afterwards. Gives its name. */
export function useNamespace(prefix: string): string {
  const name = `${prefix}-${randomBytes(3).toString('hex')}`;
  beforeAll(async () => {
    await kubectlOutput(['create', 'namespace', name]);
    await kubectlOutput(['label', 'namespace', name, 'pod-security.kubernetes.io/enforce=restricted']);
    // Pods are refused until it is there.
    await waitFor('the ServiceAccount of the namespace', () =>
      kubectlOutput(['get', 'serviceaccount', 'default', '-n', name]),
    );
  });
  afterAll(async () => {
    await kubectl(['delete', 'namespace', name, '--wait=false', '--ignore-not-found']);
  });
  return name;
}

/** Seconds that an API server may take to notice that a policy is deleted: usually 3, once more than 100. */
export const policyPatience = 270;

/**
 * Installs the official CRDs of a bundle, such as v1.7.0 and standard, over what is there. The policy of a newer bundle that was deleted
 * before may still deny them: waits until it does not.
 */
export async function installCrds(version: string, channel: 'standard' | 'experimental'): Promise<void> {
  const stdin = crdManifests(version, channel);
  const { code, stderr } = await waitFor(
    `no policy denies the CRDs of ${version} ${channel}`,
    async () => {
      const outcome = await kubectl(['apply', '--server-side', '-f', '-'], { stdin });
      return outcome.stderr.includes('is prohibited by default') ? undefined : outcome;
    },
    policyPatience,
  );
  if (code !== 0) throw new Error(`The CRDs of ${version} ${channel} cannot be installed: ${stderr}`);
  await kubectlOutput(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s']);
}

/** Removes all CRDs of the Gateway API with their objects, and the policy that guards them. */
export async function removeCrds(): Promise<void> {
  const names = await kubectlOutput([
    'get',
    'validatingadmissionpolicybinding,validatingadmissionpolicy,crd',
    '-o',
    'name',
  ]);
  const ours = names.split('\n').filter((name) => name.includes('.gateway.networking.'));
  if (ours.length > 0) await kubectlOutput(['delete', ...ours]);
}
