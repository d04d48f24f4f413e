import type { Steps } from '../../src/core/text/steps.ts';
import type { AdmissionRequest, AdmissionVerdict } from '../../src/core/admission/types.ts';
import {
  createAuthority,
  createCertificateSource,
  issueServingCertificate,
  type Authority,
  type ReplaceableSource,
} from '../../src/certificates/index.ts';
import type { Body } from '../../src/webhook/body.ts';
import {
  createAdmissionMetrics,
  createLogger,
  createMetrics,
  type AdmissionMetrics,
  type Logger,
  type Metrics,
} from '../../src/telemetry/index.ts';

/** What a webhook stands on in tests: a certificate for localhost, metrics, and a log that is kept. */
export interface WebhookGround {
  readonly authority: Authority;
  readonly certificates: ReplaceableSource;
  readonly metrics: AdmissionMetrics;
  readonly scrape: Metrics['scrape'];
  readonly log: Logger;
  readonly logged: string[];
}

export async function webhookGround(): Promise<WebhookGround> {
  const authority = await createAuthority();
  const registry = createMetrics();
  const logged: string[] = [];
  return {
    authority,
    certificates: createCertificateSource(
      await issueServingCertificate(authority, { dnsNames: ['localhost'], ipAddresses: ['127.0.0.1'] }),
    ),
    metrics: createAdmissionMetrics(registry, { cacheAge: () => undefined, certificateExpiry: () => undefined }),
    scrape: () => registry.scrape(),
    log: createLogger('debug', { write: (line) => logged.push(line) }),
    logged,
  };
}

/** A large body as the webhook receives it, in chunks of a size. */
export function bodyOf(text: string, chunk = 64 * 1024): Body {
  const bytes = Buffer.from(text);
  const chunks = Array.from({ length: Math.ceil(bytes.length / chunk) }, (_, index) =>
    bytes.subarray(index * chunk, (index + 1) * chunk),
  );
  return { chunks, isLarge: true };
}

/** A decision that takes one step. */
export function atOnce(
  decide: (request: AdmissionRequest) => AdmissionVerdict,
): (request: AdmissionRequest) => Steps<AdmissionVerdict> {
  return function* decision(request) {
    yield;
    return decide(request);
  };
}

export const allow: AdmissionVerdict = { allowed: true, warnings: [], findings: [], auditAnnotations: {} };

/** An AdmissionReview as the API server sends it; `changes` replace fields of the request. */
export function admissionReview(changes: Partial<Record<keyof AdmissionRequest, unknown>> = {}) {
  const kind = { group: 'gateway.networking.k8s.io', version: 'v1', kind: 'HTTPRoute' };
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'b7a1c5e2',
      kind,
      resource: { group: kind.group, version: kind.version, resource: 'httproutes' },
      requestKind: kind,
      name: 'cart',
      namespace: 'shop',
      operation: 'CREATE',
      userInfo: { username: 'jane', groups: ['system:authenticated'] },
      object: {
        apiVersion: 'gateway.networking.k8s.io/v1',
        kind: 'HTTPRoute',
        metadata: { name: 'cart', namespace: 'shop' },
      },
      dryRun: false,
      ...changes,
    },
  };
}
