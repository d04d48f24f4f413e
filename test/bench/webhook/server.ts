import { readFile } from 'node:fs/promises';
import { createCertificateSource } from '../../../src/certificates/index.ts';
import { defaultSettings } from '../../../src/core/admission/settings.ts';
import { expectShortLives, growBeforeCollecting } from '../../../src/cli/process/garbage-collection.ts';
import { decideInCluster } from '../../../src/webhook/decision.ts';
import { createAdmissionMetrics, createLogger, createMetrics } from '../../../src/telemetry/index.ts';
import { buildWebhook } from '../../../src/webhook/index.ts';
import { standardPolicy } from '../../support/evaluation.ts';
import { worldOf } from './world.ts';

// The webhook as `sallyport webhook` puts it together, but with generated objects for a cluster.
// Arguments: file of the certificate, file of its key, how many routes it has seen. Prints the port it listens on.

const [certificateFile = '', keyFile = '', routes = '0'] = process.argv.slice(2);
const [certificate, privateKey] = await Promise.all([certificateFile, keyFile].map((file) => readFile(file, 'utf8')));
if (certificate === undefined || privateKey === undefined) throw new Error('give the files of certificate and key');

expectShortLives();
growBeforeCollecting();
const kernel = worldOf(Number(routes));
const app = buildWebhook({
  certificates: createCertificateSource({ certificate, privateKey }),
  log: createLogger('info'),
  metrics: createAdmissionMetrics(createMetrics(), { cacheAge: () => undefined, certificateExpiry: () => undefined }),
  decide: (request) =>
    decideInCluster(request, {
      kernel,
      settings: () => defaultSettings,
      bundleOf: () => ({ bundle: standardPolicy.bundle, certain: true }),
      today: () => '2026-11-23',
    }),
});
await app.listen({ host: '127.0.0.1', port: 0 });
const address = app.server.address();
console.log(typeof address === 'object' && address !== null ? address.port : address);
