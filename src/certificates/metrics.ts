import type { Metrics } from '../telemetry/index.ts';

/** Asked for at scrape time; `undefined` where it is not known. Seconds since 1970. */
export interface CertificateExpiries {
  readonly serving: () => number | undefined;
  readonly authority: () => number | undefined;
}

/** Registers `sallyport_certificate_not_after_seconds`, told apart by the label `certificate`. */
export function observeCertificates(metrics: Metrics, expiries: CertificateExpiries): void {
  const definition = { name: 'certificate_not_after_seconds', help: 'When a certificate expires, in seconds since 1970.', labels: ['certificate'] };
  metrics.observed(definition, () =>
    Object.entries(expiries).flatMap(([certificate, expiry]) => {
      const value: number | undefined = expiry();
      return value === undefined ? [] : [{ labels: [certificate], value }];
    }),
  );
}
