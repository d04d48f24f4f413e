import { display } from '../../text/display.ts';
import { demand, specificationRule, type ReportViolation } from '../engine/demand.ts';

export const backendAuthority = specificationRule({
  id: 'backend-authority',
  summary: 'The CA certificates for a backend are not set, or set in two ways.',
  source: 'Gateway API v1.7.0, BackendTLSPolicyValidation.caCertificateRefs and .wellKnownCACertificates (one of them)',
});

interface Authorities {
  readonly refs: string;
  readonly wellKnown: string;
}

const fields: Authorities = { refs: 'caCertificateRefs', wellKnown: 'wellKnownCACertificates' };
/** The field names in v1alpha2. */
const alphaFields: Authorities = { refs: 'caCertRefs', wellKnown: 'wellKnownCACerts' };

interface Found {
  readonly refs: 'given' | 'absent';
  readonly wellKnown: string | undefined;
}

function judge({ refs, wellKnown }: Authorities, found: Found, report: ReportViolation): void {
  if (found.refs === 'given' && found.wellKnown !== undefined) {
    report({
      below: [wellKnown],
      value: display(found.wellKnown),
      message: `${refs} conflicts with ${wellKnown}: both set the trusted CA certificates. Remove one of them.`,
    });
  }
  if (found.refs === 'absent' && found.wellKnown === undefined) {
    report({
      below: [],
      message: `CA certificates are required. Set ${refs} with a ConfigMap that has ca.crt, or use ${wellKnown}: System.`,
    });
  }
}

type Validation = Readonly<Record<string, unknown>>;

/** An empty list counts as absent. The experimental channel changed this in v1.7. */
function filled({ refs, wellKnown }: Authorities, validation: Validation): Found {
  const list = validation[refs];
  const value = validation[wellKnown];
  return {
    refs: Array.isArray(list) && list.length > 0 ? 'given' : 'absent',
    wellKnown: typeof value === 'string' && value !== '' ? value : undefined,
  };
}

export const oneAuthority = demand(backendAuthority, (validation: Validation, report) =>
  judge(fields, filled(fields, validation), report),
);
export const oneAuthorityAlpha = demand(
  backendAuthority,
  (validation: Validation, report) => judge(alphaFields, filled(alphaFields, validation), report),
  'v1alpha2',
);
export const oneAuthorityField = demand(
  backendAuthority,
  (validation: Validation, report) => {
    const value = validation[fields.wellKnown];
    judge(
      fields,
      {
        refs: validation[fields.refs] === undefined ? 'absent' : 'given',
        wellKnown: typeof value === 'string' ? value : undefined,
      },
      report,
    );
  },
  'field',
);
