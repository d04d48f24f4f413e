import type { Metrics } from '../telemetry/index.ts';

/** Read at scrape time, in seconds since 1970. `undefined` if unknown. */
export interface CertificateExpiries {
  readonly serving: () => number | undefined;
  readonly authority: () => number | undefined;
}

/** Registers `sallyport_certificate_not_after_seconds`, with the label `certificate`. */
export function observeCertificates(metrics: Metrics, expiries: CertificateExpiries): void {
  const definition = {
    name: 'certificate_not_after_seconds',
    help: 'When a certificate expires, in seconds since 1970.',
    labels: ['certificate'],
  };
  metrics.observed(definition, () =>
    Object.entries(expiries).flatMap(([certificate, expiry]) => {
      const value: number | undefined = expiry();
      return value === undefined ? [] : [{ labels: [certificate], value }];
    }),
  );
}
