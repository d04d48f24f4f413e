import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  auditEvents,
  clusterState,
  installCrds,
  removeCrds,
  useNamespace,
  type AuditEvent,
} from './support/cluster.ts';
import { apply, kubectl, kubectlOutput } from './support/kubectl.ts';
import { httpRoute } from './support/routes.ts';
import { serviceImportCrd, serviceImportDefinition } from './support/service-import-crd.ts';
import {
  installSallyport,
  render,
  systemNamespace,
  uninstallSallyport,
  waitForFailurePolicy,
  waitUntilReady,
  webhookConfiguration,
  type Manifest,
} from './support/sallyport.ts';
import { waitFor } from './support/wait.ts';

// What webhook and watchdog ask of the API server, as its audit log shows it: no more than they may, and no less.
const namespace = useNamespace('permissions');
const hostnamePolicies = join(import.meta.dirname, '../../deploy/components/hostname-policy/crd.yaml');
const accounts = `system:serviceaccount:${systemNamespace}:`;

let installed: string;

/** Requests of webhook and watchdog that began after `since`. */
async function requests(since: string): Promise<readonly AuditEvent[]> {
  return ((await auditEvents()) ?? []).filter(
    ({ user, requestReceivedTimestamp }) =>
      requestReceivedTimestamp >= since && (user.username ?? '').startsWith(accounts),
  );
}

const writes = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

function isWrite({ verb, requestURI }: AuditEvent): boolean {
  return writes.has(verb) && !requestURI.includes('dryRun=All');
}

// Nobody can look into the audit log of a cluster of somebody else.
if (clusterState === undefined)
  test('cannot be seen in this cluster', () => {
    expect(process.env['KUBECONFIG']).toBeDefined();
  });
else {
  beforeAll(async () => {
    // Kinds that are followed only if they are installed. XBackends are in the experimental channel.
    await installCrds('v1.7.0', 'experimental');
    await kubectlOutput(['apply', '-f', hostnamePolicies]);
    await apply(serviceImportDefinition());
    installed = new Date().toISOString();
    await installSallyport('enforce');
    await apply(httpRoute({ name: 'stored', namespace }, { rules: [{}] }));
  });

  afterAll(async () => {
    await uninstallSallyport();
    await kubectl(['delete', '-f', hostnamePolicies, '--ignore-not-found']);
    await kubectl(['delete', 'customresourcedefinition', serviceImportCrd, '--ignore-not-found']);
    await removeCrds();
  });

  test('dry runs make neither webhook nor watchdog write anything but Leases', async () => {
    const since = new Date().toISOString();
    const stdin = (name: string): string =>
      JSON.stringify(httpRoute({ name, namespace }, { parentRefs: [{ name: 'front' }], rules: [{}] }));
    const refused = JSON.stringify(
      httpRoute(
        { name: 'bad', namespace },
        { rules: [{ filters: [{ type: 'RequestHeaderModifier', requestHeaderModifier: { remove: ['x shop'] } }] }] },
      ),
    );
    expect(await kubectl(['create', '--dry-run=server', '-f', '-'], { stdin: stdin('new') })).toMatchObject({
      code: 0,
    });
    expect(await kubectl(['create', '--dry-run=server', '-f', '-'], { stdin: refused })).toMatchObject({ code: 1 });
    expect(
      await kubectl(['apply', '--server-side', '--dry-run=server', '-f', '-'], { stdin: stdin('stored') }),
    ).toMatchObject({ code: 0 });
    expect(await kubectl(['delete', 'httproute', 'stored', '-n', namespace, '--dry-run=server'])).toMatchObject({
      code: 0,
    });
    // Leases are renewed every few seconds: after the next one, everything that the dry runs led to is in the log.
    const end = new Date().toISOString();
    await waitFor('a Lease is renewed', async () =>
      (await requests(end)).some(({ verb, objectRef }) => verb === 'update' && objectRef?.resource === 'leases')
        ? true
        : undefined,
    );
    const asked = ((await auditEvents()) ?? []).filter(
      ({ verb, requestURI, requestReceivedTimestamp }) =>
        requestReceivedTimestamp >= since && requestURI.includes(namespace) && writes.has(verb),
    );
    expect(asked.map(({ verb }) => verb)).toEqual(['create', 'create', 'patch', 'delete']);
    expect(new Set((await requests(since)).filter(isWrite).map(({ objectRef }) => objectRef?.resource))).toEqual(
      new Set(['leases']),
    );
    expect(await kubectlOutput(['get', 'httproutes', '-n', namespace, '-o', 'name'])).toBe(
      'httproute.gateway.networking.k8s.io/stored\n',
    );
  });

  describe('the permissions', () => {
    beforeAll(provokeEverything);

    test('suffice: nothing was forbidden', async () => {
      const forbidden = (await requests(installed)).filter(({ responseStatus }) => responseStatus?.code === 403);
      expect(forbidden.map(({ verb, requestURI }) => `${verb} ${requestURI}`)).toEqual([]);
    });

    test('are all used', async () => {
      const used = new Set((await requests(installed)).flatMap(usesOf));
      const granted = grantsOf(await render('enforce'));
      expect(granted.length).toBeGreaterThan(20);
      expect(granted.filter((grant) => !used.has(grant))).toEqual([]);
    });
  });
}

/** What happens only now and then in the life of a webhook: an authority that must be replaced, a loss of all pods, and events that come again. */
async function provokeEverything(): Promise<void> {
  await kubectlOutput([
    'patch',
    'secret',
    'sallyport-authority',
    '-n',
    systemNamespace,
    '--type=merge',
    '-p',
    JSON.stringify({ data: null, stringData: { state: 'nobody can read this' } }),
  ]);
  await waitFor(
    'the authority is replaced',
    async () => (await has('update', 'secrets', 'sallyport-webhook')) || undefined,
  );
  await loseAllPods();
  // An event that comes again is told after a minute at the earliest.
  await waitFor(
    'the webhook tells an event once more',
    async () => {
      await kubectlOutput([
        'patch',
        'validatingwebhookconfiguration',
        webhookConfiguration,
        '--type=json',
        '-p',
        JSON.stringify([{ op: 'replace', path: '/webhooks/0/failurePolicy', value: 'Ignore' }]),
      ]);
      await waitForFailurePolicy('Fail');
      return (await has('patch', 'events', 'sallyport-webhook')) || undefined;
    },
    120,
  );
  await loseAllPods();
  await waitFor(
    'the watchdog tells an event once more',
    async () => (await has('patch', 'events', 'sallyport-watchdog')) || undefined,
  );
}

async function loseAllPods(): Promise<void> {
  await kubectlOutput(['scale', 'deployment/sallyport-webhook', '-n', systemNamespace, '--replicas=0']);
  await waitForFailurePolicy('Ignore');
  await kubectlOutput(['scale', 'deployment/sallyport-webhook', '-n', systemNamespace, '--replicas=2']);
  await waitUntilReady();
  await waitForFailurePolicy('Fail');
}

async function has(verb: string, resource: string, account: string): Promise<boolean> {
  return (await requests(installed)).some(
    (event) =>
      event.verb === verb && event.objectRef?.resource === resource && event.user.username === accounts + account,
  );
}

/** `account verb group/resource namespace`, for the whole cluster without a namespace; a request in a namespace can be allowed by either. */
function usesOf({ user, verb, objectRef, responseStatus }: AuditEvent): readonly string[] {
  if (objectRef === undefined || responseStatus?.code === 403) return [];
  const use = `${(user.username ?? '').slice(accounts.length)} ${verb} ${objectRef.apiGroup ?? ''}/${objectRef.resource}`;
  return objectRef.namespace === undefined ? [use] : [use, `${use} ${objectRef.namespace}`];
}

interface Role extends Manifest {
  readonly rules: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
  }[];
}

interface Binding extends Manifest {
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects: readonly { readonly name: string }[];
}

/** Every granted verb and resource, as `usesOf` writes them. */
function grantsOf(manifests: readonly Manifest[]): readonly string[] {
  const bindings = manifests.filter((manifest): manifest is Binding => manifest.kind.endsWith('RoleBinding'));
  return bindings.flatMap(({ roleRef, subjects, metadata }) => {
    const roles = manifests.filter(
      (manifest): manifest is Role => manifest.kind === roleRef.kind && manifest.metadata.name === roleRef.name,
    );
    const grants = roles
      .flatMap(({ rules }) => rules)
      .flatMap(({ apiGroups, resources, verbs }) =>
        apiGroups.flatMap((group) =>
          resources.flatMap((resource) => verbs.map((verb) => `${verb} ${group}/${resource}`)),
        ),
      );
    const where = metadata.namespace === undefined ? '' : ` ${metadata.namespace}`;
    return subjects.flatMap((subject) => grants.map((grant) => `${subject.name} ${grant}${where}`));
  });
}
