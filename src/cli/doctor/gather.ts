import { safeUpgrades } from '../../core/preflight/environment-table.ts';
import { judgedGroups } from '../../core/schema/index.ts';
import { recordOf } from '../../core/text/record.ts';
import {
  customResourceDefinitions,
  isForbidden,
  pathOf,
  readInstalledKind,
  unlessNotFound,
  type ApiClient,
  type InstalledKind,
  type ResourceType,
} from '../../kubernetes/index.ts';
import { collect } from '../../sources/cluster-objects.ts';
import { readProbeOutcome, sendProbe } from '../../webhook/configuration/probe.ts';
import { readReadyEndpoints } from '../../webhook/configuration/endpoints.ts';
import { readWebhookConfiguration } from '../../webhook/configuration/webhook-configuration.ts';
import { isControllerInstalled } from './controller.ts';
import { askControllerPermissions } from './controller-permissions.ts';
import { valueOf, type ControllerFacts, type DoctorFacts, type Installation, type Permissions } from './facts.ts';
import { gatherControllerFacts } from './gather-controller.ts';
import { gather, readAuthorityFacts } from './gathered.ts';
import { askPermissions } from './permissions.ts';
import { wallNow } from '../../time/clock.ts';

const admissionPolicies: ResourceType = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  plural: 'validatingadmissionpolicies',
  namespaced: false,
};

const policyBindings: ResourceType = {
  ...admissionPolicies,
  kind: 'ValidatingAdmissionPolicyBinding',
  plural: 'validatingadmissionpolicybindings',
};

/** Reads all facts for the checks. Never rejects: a failed read is a fact too. */
export async function gatherFacts(client: ApiClient, installation: Installation): Promise<DoctorFacts> {
  const [server, kinds, guardedBundle, guardBinding, configuration, authorities, readyEndpoints, answer, permissions] =
    await Promise.all([
      gather(readServer(client)),
      gather(readKinds(client)),
      gather(readGuardedBundle(client)),
      gather(hasGuardBinding(client)),
      gather(readWebhookConfiguration(client, installation.configuration)),
      gather(readAuthorityFacts(client, installation)),
      gather(readEndpoints(client, installation)),
      sendProbe(client),
      gather(askPermissions(client, installation)),
    ]);
  const impactConfiguration = await gather(readWebhookConfiguration(client, installation.impactConfiguration));
  const controller = await gatherControllerFacts(client, installation);
  const controllerPermissions = await gather(readControllerPermissions(client, installation, controller));
  const probe = readProbeOutcome(answer, configuration.type === 'known' ? configuration.value : undefined);
  return {
    now: wallNow(),
    installation,
    server,
    kinds,
    guardedBundle,
    guardBinding,
    configuration,
    impactConfiguration,
    authorities,
    readyEndpoints,
    probe,
    permissions,
    controller,
    controllerPermissions,
  };
}

/** The permissions of the controller, if there is one. */
async function readControllerPermissions(
  client: ApiClient,
  installation: Installation,
  controller: ControllerFacts,
): Promise<Permissions> {
  if (isControllerInstalled({ controller }) !== true) return { checked: 0, denied: [] };
  const { objects, pods } = controller;
  const gatewayNamespaces =
    objects.type === 'known'
      ? [...new Set(objects.value.gateways.map(({ ref }) => ref.namespace))].toSorted()
      : undefined;
  const hasAddressPool = valueOf(pods, []).some(({ options }) =>
    options.some((option) => /^--address-pool(?:=|$)/.test(option)),
  );
  return askControllerPermissions(client, installation, { gatewayNamespaces, hasAddressPool });
}

async function readServer(client: ApiClient): Promise<string | undefined> {
  try {
    const { gitVersion } = recordOf(await client.request({ path: '/version' }));
    return typeof gitVersion === 'string' ? gitVersion : 'unknown';
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}

async function readKinds(client: ApiClient): Promise<readonly InstalledKind[]> {
  const definitions = await collect(client, { type: customResourceDefinitions });
  return definitions.map(readInstalledKind).filter(({ group }) => judgedGroups.includes(group));
}

async function readGuardedBundle(client: ApiClient): Promise<string | undefined> {
  const policy = await unlessNotFound(client.request({ path: pathOf(admissionPolicies, { name: safeUpgrades }) }));
  const version = recordOf(recordOf(recordOf(policy)['metadata'])['annotations'])[
    'gateway.networking.k8s.io/bundle-version'
  ];
  return typeof version === 'string' ? version : undefined;
}

async function hasGuardBinding(client: ApiClient): Promise<boolean> {
  const binding = client.request({ path: pathOf(policyBindings, { name: safeUpgrades }) });
  return (await unlessNotFound(binding)) !== undefined;
}

function readEndpoints(client: ApiClient, { namespace, service }: Installation): Promise<number> {
  return readReadyEndpoints(client, { namespace, name: service });
}
