import type { Settings } from '../../core/admission/settings.ts';
import { recordOf } from '../../core/text/record.ts';
import { parseDocuments } from '../../files/parse.ts';
import {
  createClient,
  isForbidden,
  isNotFound,
  loadCredentials,
  pathOf,
  type ApiClient,
  type CredentialSource,
  type ResourceType,
} from '../../kubernetes/index.ts';
import { settingsIn } from '../process/settings-file.ts';

const configMaps: ResourceType = { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };

/** The ConfigMap that the manifests and the chart mount in webhook and controller. */
export const settingsName = 'sallyport-settings';
const settingsKey = 'settings.yaml';

/** The settings of the webhook in a cluster. `absent`: there are none. `forbidden`: the credentials may not read them. */
export type WebhookSettings =
  | { readonly type: 'settings'; readonly settings: Settings }
  | { readonly type: 'absent' }
  | { readonly type: 'forbidden'; readonly message: string };

/**
 * Reads the settings of the webhook from their ConfigMap.
 *
 * @param namespace the namespace of the webhook
 * @throws errors of the kubeconfig, and those of `settingsFrom`, with a message for people
 */
export async function readWebhookSettings(credentials: CredentialSource, namespace: string): Promise<WebhookSettings> {
  const client = createClient(await loadCredentials(credentials));
  try {
    return await settingsFrom(client, namespace);
  } finally {
    await client.close();
  }
}

/**
 * Reads the settings of the webhook with a client.
 *
 * @param namespace the namespace of the webhook
 * @throws UsageError if the settings are invalid: the webhook then uses earlier ones, which are unknown
 * @throws errors of the API server
 */
export async function settingsFrom(client: ApiClient, namespace: string): Promise<WebhookSettings> {
  try {
    const path = pathOf(configMaps, { namespace, name: settingsName });
    const text = recordOf(recordOf(await client.request({ path }))['data'])[settingsKey];
    if (typeof text !== 'string') return { type: 'absent' };
    const name = `ConfigMap ${namespace}/${settingsName}`;
    return { type: 'settings', settings: settingsIn(name, parseDocuments(text, name)) };
  } catch (error) {
    if (isNotFound(error)) return { type: 'absent' };
    if (isForbidden(error)) return { type: 'forbidden', message: error.message };
    throw error;
  }
}
