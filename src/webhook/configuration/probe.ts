import type { AdmissionRequest, Denied } from '../../core/admission/types.ts';
import { recordOf } from '../../core/text/record.ts';
import {
  create,
  type ApiClient,
  type KubernetesObject,
  type ResourceType,
  type WriteOutcome,
} from '../../kubernetes/index.ts';
import type { WebhookConfiguration } from './webhook-configuration.ts';

/**
 * Label of an object that the webhook denies regardless of its settings. Sent through the API server as a dry run, it
 * proves that the API server reaches the webhook, trusts it, and enforces its verdict. It is a GatewayClass because
 * exemptions of namespaces do not apply to it.
 */
const probeLabel = 'sallyport.dev/probe';
const proof = 'the webhook answers';

const gatewayClasses: ResourceType = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'GatewayClass',
  plural: 'gatewayclasses',
  namespaced: false,
};

/** The result of a probe. */
export type ProbeOutcome =
  /** The webhook denied it: everything works. */
  | { readonly type: 'denied' }
  /** It was not denied: the call failed and was ignored, or the webhook was not called. */
  | { readonly type: 'admitted' }
  /** The API server could not call the webhook. */
  | { readonly type: 'failed'; readonly phase: CallPhase; readonly message: string }
  /** The cluster has no GatewayClass CRD, so there is nothing to review. */
  | { readonly type: 'suspended'; readonly message: string }
  /** The write failed before the webhook's verdict mattered. */
  | { readonly type: 'inconclusive'; readonly message: string };

/** The phase in which a call to the webhook failed. */
export type CallPhase = 'service' | 'dns' | 'connect' | 'tls' | 'http' | 'timeout' | 'unknown';

/** Whether a request is the probe. Rules do not run for it. */
export function isProbe({ kind, object }: AdmissionRequest): boolean {
  const { metadata } = recordOf(object);
  return kind === 'GatewayClass' && Object.hasOwn(recordOf(recordOf(metadata)['labels']), probeLabel);
}

const message = `${proof}; the webhook uses the label ${probeLabel} for its own probes, remove the label from other objects`;

/** The webhook's response to its probe. */
export const probeDenial: Denied = {
  allowed: false,
  message,
  causes: [{ field: 'metadata.labels', message, reason: 'FieldValueForbidden' }],
  warnings: [],
  findings: [],
  auditAnnotations: { probe: 'denied' },
};

/** Sends the probe; `readProbeOutcome` interprets the result. Never rejects. */
export function sendProbe(client: ApiClient, timeout = 15_000): Promise<WriteOutcome> {
  return create({ client, type: gatewayClasses }, probeObject, {
    dryRun: 'All',
    timeout,
    fieldManager: 'sallyport-probe',
  });
}

/** The object of the probe: valid in every schema, with a controllerName that nothing serves. */
export const probeObject: KubernetesObject = {
  metadata: { name: 'sallyport-probe', labels: { [probeLabel]: 'must-be-denied' } },
  spec: { controllerName: 'sallyport.dev/probe' },
};

/** Interprets the API server's response to the probe. A denial by a webhook outside this configuration proves nothing. */
export function readProbeOutcome(
  outcome: WriteOutcome,
  configuration: Pick<WebhookConfiguration, 'webhooks'> | undefined,
): ProbeOutcome {
  switch (outcome.type) {
    case 'ok':
      return { type: 'admitted' };
    case 'notFound':
      return { type: 'suspended', message: outcome.message };
    case 'invalid': {
      const texts = [outcome.message, ...outcome.causes.map(({ message }) => message)];
      return texts.some((text) => text.includes(proof))
        ? { type: 'denied' }
        : { type: 'inconclusive', message: outcome.message };
    }
    case 'unavailable':
      return isAboutUs(outcome.message, configuration?.webhooks ?? [])
        ? { type: 'failed', phase: failingPhase(outcome.message), message: outcome.message }
        : { type: 'inconclusive', message: outcome.message };
    case 'forbidden':
    case 'conflict':
    case 'exists':
      return { type: 'inconclusive', message: outcome.message };
  }
}

function isAboutUs(message: string, webhooks: WebhookConfiguration['webhooks']): boolean {
  return webhooks.some(({ name }) => message.includes(`failed calling webhook "${name}"`));
}

const phases: readonly (readonly [CallPhase, RegExp])[] = [
  ['service', /no endpoints available|service "[^"]*" not found|no service port/],
  ['dns', /no such host|lookup /],
  ['tls', /x509:|tls:|certificate/],
  ['timeout', /deadline exceeded|Client\.Timeout|i\/o timeout/],
  ['connect', /connection refused|connection reset|no route to host|network is unreachable|Address is not allowed|EOF/],
  [
    'http',
    /expected webhook response|unexpected status|status code|server could not find|unmarshal|invalid character|the server/,
  ],
];

/** Derives the phase of the failure from the API server's message. */
export function failingPhase(message: string): CallPhase {
  return phases.find(([, form]) => form.test(message))?.[0] ?? 'unknown';
}
