import type { ControllerFacts, DoctorFacts } from '../../src/cli/doctor/facts.ts';
import { knownSchemas } from '../../src/core/schema/known-schemas.ts';
import type { InstalledKind } from '../../src/kubernetes/index.ts';

const group = 'gateway.networking.k8s.io';
const versions: Readonly<Record<string, readonly string[]>> = {
  backendtlspolicies: ['v1'],
  gatewayclasses: ['v1', 'v1beta1'],
  gateways: ['v1', 'v1beta1'],
  grpcroutes: ['v1'],
  httproutes: ['v1', 'v1beta1'],
  listenersets: ['v1'],
  referencegrants: ['v1', 'v1beta1'],
  tcproutes: ['v1'],
  tlsroutes: ['v1'],
  udproutes: ['v1'],
};

/** A kind as bundle v1.7.0, standard channel, brings it; `changes` replace parts. */
export function installedKind(plural: string, changes: Partial<InstalledKind> = {}): InstalledKind {
  return {
    name: `${plural}.${group}`,
    uid: plural,
    group,
    kind: plural,
    plural,
    established: true,
    deleting: false,
    storedVersions: ['v1'],
    annotations: annotations('v1.7.0', 'standard'),
    versions: (versions[plural] ?? []).map((name, position) => ({
      name,
      served: true,
      storage: position === 0,
      schemaHash: hashOf(`${plural}.${group}/${name}`, '1.7/standard'),
    })),
    ...changes,
  };
}

export function annotations(version: string, channel: string): Readonly<Record<string, string>> {
  return { [`${group}/bundle-version`]: version, [`${group}/channel`]: channel };
}

/** The hash of the schema that a bundle has of `<definition>/<version>`. */
export function hashOf(version: string, bundleName: string): string {
  const [key = ''] =
    Object.entries(knownSchemas).find(
      ([known, names]) => known.startsWith(`${version} `) && names.split(' ').includes(bundleName),
    ) ?? [];
  return key.slice(version.length + 1);
}

/** All kinds of bundle v1.7.0; `change` may replace or drop (`undefined`) each. */
export function bundle(
  change: (plural: string) => InstalledKind | undefined = installedKind,
): readonly InstalledKind[] {
  return Object.keys(versions)
    .map(change)
    .filter((kind) => kind !== undefined);
}

export const now = Date.UTC(2026, 2, 1);
const authority = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';

const noController: ControllerFacts = {
  lease: { type: 'known', value: undefined },
  pods: { type: 'known', value: [] },
  authorities: { type: 'known', value: undefined },
  dataPlanePods: { type: 'known', value: [] },
  partlyListed: [],
  deploymentProblems: { type: 'known', value: new Map() },
  reports: { type: 'known', value: [] },
  objects: {
    type: 'known',
    value: {
      unobserved: [],
      unserved: [],
      stored: [],
      classes: [],
      gateways: [],
      listenerSets: [],
      certificates: [],
      idle: [],
    },
  },
};

/** A cluster in which everything is as it should be. */
export const healthy: DoctorFacts = {
  now,
  installation: {
    namespace: 'sallyport-system',
    service: 'sallyport-webhook',
    configuration: 'sallyport-webhook',
    impactConfiguration: 'sallyport-impact',
    secret: 'sallyport-authority',
    lease: 'sallyport-webhook',
    webhookAccount: 'sallyport-webhook',
    watchdogAccount: 'sallyport-watchdog',
    controllerAccount: 'sallyport-controller',
    controllerLease: 'sallyport-controller',
    controllerSecret: 'sallyport-controller-authority',
  },
  server: { type: 'known', value: 'v1.37.1' },
  kinds: { type: 'known', value: bundle() },
  guardedBundle: { type: 'known', value: 'v1.7.0' },
  guardBinding: { type: 'known', value: true },
  impactConfiguration: { type: 'known', value: undefined },
  configuration: {
    type: 'known',
    value: {
      name: 'sallyport-webhook',
      uid: '1',
      version: '1',
      webhooks: [
        {
          name: 'validate',
          trusted: [authority],
          failurePolicy: 'Fail',
          service: { namespace: 'sallyport-system', name: 'sallyport-webhook' },
        },
      ],
    },
  },
  authorities: {
    type: 'known',
    value: {
      type: 'authorities',
      current: { certificate: authority, notAfter: now + 90 * 86_400_000, renewalTime: now + 30 * 86_400_000 },
      bundle: [authority],
    },
  },
  readyEndpoints: { type: 'known', value: 2 },
  probe: { type: 'denied' },
  permissions: { type: 'known', value: { denied: [], checked: 9 } },
  controller: noController,
  controllerPermissions: { type: 'known', value: { denied: [], checked: 0 } },
};
