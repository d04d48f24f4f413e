/** Serves AdmissionReview over HTTPS, probes and metrics. The only importer of Fastify. */
export { buildProbes, type ProbeOptions, type Readiness } from './probes.ts';
export { buildWebhook, type WebhookLimits, type WebhookOptions } from './server.ts';
