import { X509Certificate } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthority, issueServingCertificate } from '../../certificates/authority.ts';
import { createCertificateSource } from '../../certificates/source.ts';
import type { AdmissionRequest, AdmissionVerdict } from '../../core/admission/types.ts';
import type { Steps } from '../../core/text/steps.ts';
import { createAdmissionMetrics } from '../../telemetry/admission.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { buildWebhook } from '../../webhook/index.ts';
import type { Gate } from '../../time/slices.ts';
import type { Address } from '../../proxy/sockets/address.ts';
import { monotonicNow } from '../../time/clock.ts';

interface Surroundings {
  /** Decides on a write. `mayContinue` returns false when the time for looking at other objects is over. */
  readonly decide: (request: AdmissionRequest, mayContinue: () => boolean) => Steps<AdmissionVerdict>;
  /** Resolves when no change is being applied to the evaluation. */
  readonly readable: Gate;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** A listening webhook. `caFile` contains its authority, until it is closed. */
export interface StandaloneWebhook extends Address {
  readonly caFile: string;
  close(): Promise<void>;
}

/** Serves the webhook with a certificate from an authority that exists as long as the process. */
export async function startStandaloneWebhook(
  address: Address,
  { decide, readable, log, metrics }: Surroundings,
): Promise<StandaloneWebhook> {
  const authority = await createAuthority();
  const material = await issueServingCertificate(authority, { dnsNames: ['localhost'], ipAddresses: [address.host] });
  const notAfter = new X509Certificate(material.certificate).validToDate.getTime() / 1000;
  const app = buildWebhook({
    certificates: createCertificateSource(material),
    log,
    readable,
    // There is no cache that could become stale: files are read before the webhook listens, and watched.
    metrics: createAdmissionMetrics(metrics, { cacheAge: () => undefined, certificateExpiry: () => notAfter }),
    decide(request) {
      // Half of the time is for looking at other objects. The response needs the rest.
      const deadline = monotonicNow() + request.budgetMs / 2;
      return decide(request, () => monotonicNow() < deadline);
    },
  });
  await app.listen(address);
  const listening = app.server.address();
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-'));
  const caFile = join(folder, 'ca.crt');
  await writeFile(caFile, authority.certificate);
  return {
    host: address.host,
    port: typeof listening === 'object' && listening !== null ? listening.port : address.port,
    caFile,
    async close() {
      await app.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
