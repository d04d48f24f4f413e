import type { CallPhase } from '../../webhook/configuration/probe.ts';
import {
  mayBlock,
  trustedByAll,
  type WebhookConfiguration,
} from '../../webhook/configuration/webhook-configuration.ts';
import { authorityVerdicts, logsOf, podsOf } from './authority.ts';
import {
  applyAgain,
  fail,
  ok,
  warn,
  type AuthorityFacts,
  type Check,
  type DoctorFacts,
  type Installation,
  type Verdict,
} from './facts.ts';

/** Checks of the webhook and of the path to it. */
export const webhookChecks: readonly Check[] = [configured, failurePolicy, endpoints, trust, authority, reachability];

function configured({ configuration, installation }: DoctorFacts): readonly Verdict[] {
  const { configuration: name, namespace, service } = installation;
  const look = `kubectl get validatingwebhookconfiguration ${name} -o yaml`;
  if (configuration.type === 'unknown')
    return [warn('webhook-configuration', `cannot read the configuration: ${configuration.problem}`, look)];
  if (configuration.value === undefined) {
    return [
      fail(
        'webhook-configuration',
        `ValidatingWebhookConfiguration "${name}" not found: no write is validated`,
        applyAgain,
      ),
    ];
  }
  const elsewhere = configuration.value.webhooks.filter(
    (webhook) => webhook.service?.namespace !== namespace || webhook.service.name !== service,
  );
  if (elsewhere.length > 0) {
    return [
      warn(
        'webhook-configuration',
        `${elsewhere.map((webhook) => webhook.name).join(', ')} of ${name} does not call Service "${namespace}/${service}"`,
        look,
        applyAgain,
      ),
    ];
  }
  return [ok('webhook-configuration', `${name} calls Service "${namespace}/${service}"`)];
}

function failurePolicy({ configuration, probe }: DoctorFacts): readonly Verdict[] {
  const present = presentConfiguration(configuration);
  if (present === undefined) return [];
  const { name, webhooks } = present;
  if (!mayBlock(present))
    return [
      ok(
        'webhook-failure-policy',
        'Ignore: the API server admits writes without validation while it cannot call the webhook',
      ),
    ];
  if (probe.type === 'failed')
    return [
      fail(
        'webhook-failure-policy',
        'Fail, and the API server cannot call the webhook: it rejects writes',
        breakGlass(name, webhooks.length),
      ),
    ];
  const isMixed = webhooks.some((webhook) => webhook.failurePolicy === 'Ignore');
  return [
    ok(
      'webhook-failure-policy',
      isMixed
        ? 'Fail for some webhooks, Ignore for others'
        : 'Fail: the API server rejects writes while it cannot call the webhook',
    ),
  ];
}

function endpoints({
  readyEndpoints,
  configuration,
  installation: { namespace, service },
}: DoctorFacts): readonly Verdict[] {
  if (readyEndpoints.type === 'unknown')
    return [
      warn(
        'webhook-endpoints',
        `cannot read EndpointSlices: ${readyEndpoints.problem}`,
        `kubectl auth can-i list endpointslices.discovery.k8s.io -n ${namespace}`,
      ),
    ];
  const look = podsOf(namespace);
  if (readyEndpoints.value === 0)
    return [
      // Without the configuration, it is unknown whether the API server calls the Service.
      (configuration.type === 'unknown' ? warn : fail)(
        'webhook-endpoints',
        `Service "${namespace}/${service}" has no ready pod`,
        look,
        `kubectl -n ${namespace} describe service ${service}`,
      ),
    ];
  if (readyEndpoints.value === 1)
    return [
      warn(
        'webhook-endpoints',
        `Service "${namespace}/${service}" has only one ready pod: a restart interrupts the validation`,
        look,
      ),
    ];
  return [ok('webhook-endpoints', `Service "${namespace}/${service}" has ${readyEndpoints.value} ready pods`)];
}

/** Whether the configuration trusts the authority that signs the webhook's certificates. */
function trust({ configuration, authorities, installation }: DoctorFacts): readonly Verdict[] {
  const present = presentConfiguration(configuration);
  if (present === undefined) return [];
  const trusted = trustedByAll(present);
  const stored = storedAuthorities(authorities);
  const { namespace, configuration: name } = installation;
  const logs = logsOf(namespace, 'webhook');
  if (trusted.length === 0)
    return [fail('webhook-ca-bundle', `${name} has no caBundle: the API server uses its system trust roots`, logs)];
  // The check of the Secret reports it.
  if (authorities.type === 'unknown' || authorities.value?.type === 'unreadable') return [];
  if (stored === undefined)
    return [
      ok(
        'webhook-ca-bundle',
        `${name} trusts ${count(trusted.length, 'authority', 'authorities')} that Sallyport does not manage`,
      ),
    ];
  if (stored.current !== undefined && !trusted.includes(stored.current.certificate)) {
    return [
      fail('webhook-ca-bundle', `${name} does not trust the authority that signs the webhook's certificates`, logs),
    ];
  }
  const missing = stored.bundle.filter((certificate) => !trusted.includes(certificate)).length;
  const foreign = trusted.filter((certificate) => !stored.bundle.includes(certificate)).length;
  if (missing + foreign > 0)
    return [
      warn(
        'webhook-ca-bundle',
        `${name} differs from the Secret (${missing} missing, ${foreign} extra). The leader updates it within a minute`,
        logs,
      ),
    ];
  return [ok('webhook-ca-bundle', `${name} trusts ${count(trusted.length, 'authority', 'authorities')}`)];
}

function authority({ authorities, installation: { namespace, secret }, now }: DoctorFacts): readonly Verdict[] {
  return authorityVerdicts(authorities, { check: 'webhook-authority', namespace, secret, component: 'webhook', now });
}

function reachability({ probe, installation }: DoctorFacts): readonly Verdict[] {
  const check = 'webhook-reachable';
  switch (probe.type) {
    case 'denied':
      return [ok(check, 'the API server reaches the webhook: the webhook denied the probe as expected')];
    case 'suspended':
      return [warn(check, `cannot probe while the API server does not serve GatewayClass: ${probe.message}`)];
    case 'inconclusive':
      return [warn(check, `the probe was inconclusive: ${probe.message}`)];
    case 'admitted': {
      const message =
        'the API server admitted the probe: either the call failed and failurePolicy Ignore hides it, or the API server did not call the webhook';
      return [
        fail(
          check,
          message,
          `kubectl get --raw /metrics | grep apiserver_admission_webhook_fail_open_count`,
          `kubectl get validatingwebhookconfiguration ${installation.configuration} -o yaml`,
        ),
      ];
    }
    case 'failed':
      return [
        fail(
          check,
          `the call fails at: ${phases[probe.phase]}. Error of the API server: ${probe.message}`,
          ...nextSteps[probe.phase](installation),
        ),
      ];
  }
}

const phases: Readonly<Record<CallPhase, string>> = {
  service: 'Service (no ready pod, or the port does not exist)',
  dns: 'DNS (the API server must resolve the name)',
  connect:
    'connection (check firewalls and NetworkPolicies between API server and pods; open the webhook port on private clusters, use hostNetwork with overlay networks)',
  tls: 'TLS (the certificate is not trusted, or its name does not match)',
  http: 'HTTP (another server answers at this address)',
  timeout: 'timeout (no answer; often caused by a firewall between API server and pods)',
  unknown: 'unknown phase',
};

/** The next steps, by the phase in which the call failed. */
const nextSteps: Readonly<Record<CallPhase, (installation: Installation) => readonly string[]>> = {
  service: ({ namespace, service }) => [`kubectl -n ${namespace} describe service ${service}`, podsOf(namespace)],
  dns: ({ configuration }) => [`kubectl get validatingwebhookconfiguration ${configuration} -o yaml`],
  connect: ({ namespace }) => [podsOf(namespace), policiesOf(namespace)],
  tls: ({ namespace }) => [logsOf(namespace, 'webhook')],
  http: ({ namespace, service }) => [
    `kubectl -n ${namespace} describe service ${service}`,
    logsOf(namespace, 'webhook'),
  ],
  timeout: ({ namespace }) => [podsOf(namespace), policiesOf(namespace)],
  unknown: ({ namespace }) => [podsOf(namespace), logsOf(namespace, 'webhook')],
};

function policiesOf(namespace: string): string {
  return `kubectl -n ${namespace} describe networkpolicy`;
}

/** Disables the blocking of writes at once, by hand. */
function breakGlass(name: string, webhooks: number): string {
  const steps = Array.from({ length: webhooks }, (_, position) => ({
    op: 'replace',
    path: `/webhooks/${position}/failurePolicy`,
    value: 'Ignore',
  }));
  return `kubectl patch validatingwebhookconfiguration ${name} --type=json -p '${JSON.stringify(steps)}'`;
}

function presentConfiguration(configuration: DoctorFacts['configuration']): WebhookConfiguration | undefined {
  return configuration.type === 'known' ? configuration.value : undefined;
}

function storedAuthorities(
  authorities: DoctorFacts['authorities'],
): Extract<AuthorityFacts, { type: 'authorities' }> | undefined {
  const value = authorities.type === 'known' ? authorities.value : undefined;
  return value?.type === 'authorities' ? value : undefined;
}

function count(number: number, one: string, many: string): string {
  return `${number} ${number === 1 ? one : many}`;
}
