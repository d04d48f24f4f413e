/** Serves AdmissionReview over HTTPS. The only importer of Fastify. Commands without a webhook import `probes.ts` alone. */
export { buildWebhook, type WebhookLimits, type WebhookOptions } from './server.ts';
