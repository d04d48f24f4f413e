import { splitPem } from '../../certificates/index.ts';
import type { FailurePolicy } from '../../core/admission/settings.ts';
import { recordOf } from '../../core/text/record.ts';
import {
  applyForced,
  doneOrConflict,
  pathOf,
  unlessNotFound,
  type ApiClient,
  type ResourceType,
} from '../../kubernetes/index.ts';

export const webhookConfigurations: ResourceType = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  plural: 'validatingwebhookconfigurations',
  namespaced: false,
};

/** The parts of a ValidatingWebhookConfiguration that are reconciled. */
export interface WebhookConfiguration {
  readonly name: string;
  readonly uid: string;
  readonly version: string;
  readonly webhooks: readonly ConfiguredWebhook[];
}

export interface ConfiguredWebhook {
  readonly name: string;
  /** Each as returned by `splitPem`. */
  readonly trusted: readonly string[];
  readonly failurePolicy: FailurePolicy;
  /** The Service that is called; `undefined` if the webhook has a URL. */
  readonly service: { readonly namespace: string; readonly name: string } | undefined;
}

/** Each writer has its own field manager, because an apply drops the fields that the same manager applied before. */
const managers = {
  trusted: 'sallyport-certificates',
  failurePolicy: 'sallyport-failure-policy',
  warning: 'sallyport-impact',
} as const;

/**
 * Reads the current configuration. Returns `undefined` if it is not found or has no webhooks.
 *
 * @throws ApiError, ConnectionError if it cannot be read
 */
export async function readWebhookConfiguration(
  client: ApiClient,
  name: string,
): Promise<WebhookConfiguration | undefined> {
  const found = await unlessNotFound(client.request({ path: pathOf(webhookConfigurations, { name }) }));
  return found === undefined ? undefined : parseConfiguration(found);
}

/** The certificates that every webhook of the configuration trusts, in the order of the first webhook. */
export function trustedByAll({ webhooks }: WebhookConfiguration): readonly string[] {
  const [first, ...others] = webhooks.map(({ trusted }) => new Set(trusted));
  return [...(first ?? [])].filter((certificate) => others.every((trusted) => trusted.has(certificate)));
}

/** `Fail` only if every webhook has it: a webhook with Ignore admits objects. */
export function failurePolicyOf({ webhooks }: WebhookConfiguration): FailurePolicy {
  return webhooks.every(({ failurePolicy }) => failurePolicy === 'Fail') ? 'Fail' : 'Ignore';
}

/** Whether any webhook rejects writes when it cannot be called. */
export function mayBlock({ webhooks }: WebhookConfiguration): boolean {
  return webhooks.some(({ failurePolicy }) => failurePolicy === 'Fail');
}

/** `conflict`: the configuration changed since it was read, or was deleted. */
type Applied = 'applied' | 'conflict';

/** Sets the trusted certificates of every webhook. @throws if the API server rejects the write or does not respond */
export function applyTrusted(
  client: ApiClient,
  configuration: WebhookConfiguration,
  certificates: readonly string[],
): Promise<Applied> {
  const fields = { clientConfig: { caBundle: encodeBundle(certificates) } };
  return applyToAll(client, configuration, { manager: managers.trusted, fields });
}

/** Sets the failurePolicy of every webhook. @throws if the API server rejects the write or does not respond */
export function applyFailurePolicy(
  client: ApiClient,
  configuration: WebhookConfiguration,
  failurePolicy: FailurePolicy,
): Promise<Applied> {
  return applyToAll(client, configuration, { manager: managers.failurePolicy, fields: { failurePolicy } });
}

/**
 * Sets the trusted certificates of every webhook that only warns, and the failurePolicy Ignore.
 *
 * @throws if the API server rejects the write or does not respond
 */
export function applyWarning(
  client: ApiClient,
  configuration: WebhookConfiguration,
  certificates: readonly string[],
): Promise<Applied> {
  const fields = { clientConfig: { caBundle: encodeBundle(certificates) }, failurePolicy: 'Ignore' };
  return applyToAll(client, configuration, { manager: managers.warning, fields });
}

function encodeBundle(certificates: readonly string[]): string {
  return Buffer.from(certificates.join('')).toString('base64');
}

interface AppliedFields {
  readonly manager: string;
  readonly fields: object;
}

/** Applies fields with uid and resourceVersion, so neither another object of this name nor a newer version is overwritten. */
async function applyToAll(
  client: ApiClient,
  { name, uid, version, webhooks }: WebhookConfiguration,
  { manager, fields }: AppliedFields,
): Promise<Applied> {
  const object = {
    metadata: { name, uid, resourceVersion: version },
    webhooks: webhooks.map((webhook) => ({ name: webhook.name, ...fields })),
  };
  const outcome = await applyForced({ client, type: webhookConfigurations }, object, { fieldManager: manager });
  return outcome.type === 'notFound' ? 'conflict' : doneOrConflict(outcome, 'applied');
}

/** Parses the JSON of a configuration without trusting it. */
export function parseConfiguration(json: unknown): WebhookConfiguration | undefined {
  const { metadata, webhooks } = recordOf(json);
  const { name, uid, resourceVersion } = recordOf(metadata);
  const parsed = Array.isArray(webhooks) ? webhooks.map(parseWebhook) : [];
  return parsed.length === 0
    ? undefined
    : { name: asText(name), uid: asText(uid), version: asText(resourceVersion), webhooks: parsed };
}

function parseWebhook(json: unknown): ConfiguredWebhook {
  const { name, clientConfig, failurePolicy } = recordOf(json);
  const { caBundle, service } = recordOf(clientConfig);
  const called = recordOf(service);
  return {
    name: asText(name),
    trusted: splitPem(Buffer.from(asText(caBundle), 'base64').toString()),
    // The default is Fail.
    failurePolicy: failurePolicy === 'Ignore' ? 'Ignore' : 'Fail',
    service:
      service === undefined ? undefined : { namespace: asText(called['namespace']), name: asText(called['name']) },
  };
}

function asText(json: unknown): string {
  return typeof json === 'string' ? json : '';
}
