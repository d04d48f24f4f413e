import { backendPolicyKinds } from '../../graph/backends/backend-policies.ts';
import { servedRouteKinds } from '../../graph/protocols.ts';
import { formatPath, type Path } from '../../resources/path.ts';
import type { KindName } from '../../resources/resource.ts';
import { unsupportedValueAt } from '../engine/parts.ts';
import { rule, type Consequence, type Scope } from '../engine/rule.ts';

/**
 * The API server may store objects that no current schema accepts. The reader drops values of a wrong JSON type, and this rule
 * makes the part of the object that contains them fail closed. It has no effect in admission, because the schema reports such
 * values.
 */
export const unreadableField = rule({
  id: 'unreadable-field',
  kinds: [
    'GatewayClass',
    'Gateway',
    'ListenerSet',
    ...backendPolicyKinds,
    'XTelemetryPolicy',
    'XBackend',
    ...servedRouteKinds,
  ],
  summary: 'A field has an invalid JSON type.',
  effect: { audit: 'none', standard: 'none', strict: 'none' },
  consequence: { condition: 'Accepted', reason: 'UnsupportedValue', scope: 'object' },
  varies: ['reason', 'scope'],
  source: 'Gateway API design guide, "Limitations of CRD and Webhook Validation"; GEP-922, "Implementers"',
  check(subject, _read, report) {
    for (const { path, expected, found } of subject.unreadable) {
      report({
        path,
        value: found,
        consequence: consequenceAt(subject.kind, path),
        message: `Invalid value at ${formatPath(path)}: must be ${expected}, not ${found}. Use ${expected}, or remove the field.`,
      });
    }
  },
});

/** Reasons of condition Accepted for an invalid object, by kind. */
const objectReasons: Readonly<Partial<Record<KindName, string>>> = {
  GatewayClass: 'Unsupported',
  Gateway: 'Invalid',
  ListenerSet: 'Invalid',
  BackendTLSPolicy: 'Invalid',
  XBackend: 'Invalid',
  XBackendTrafficPolicy: 'Invalid',
  XTelemetryPolicy: 'Invalid',
};
const partScopes: Readonly<Record<string, Scope>> = { parentRefs: 'parentRef', listeners: 'listener', rules: 'rule' };

function consequenceAt(kind: KindName, path: Path): Consequence {
  const [, field, position, member, memberPosition] = path;
  if (typeof field !== 'string' || typeof position !== 'number' || !Object.hasOwn(partScopes, field)) {
    return { condition: 'Accepted', reason: objectReasons[kind] ?? 'UnsupportedValue', scope: 'object' };
  }
  if (field === 'listeners' && member === 'filters') return unsupportedValueAt(path);
  const inRule = field === 'rules' && typeof memberPosition === 'number' ? memberScope(member) : undefined;
  return { condition: 'Accepted', reason: 'UnsupportedValue', scope: inRule ?? partScopes[field] ?? 'object' };
}

function memberScope(member: string | number | undefined): Scope | undefined {
  if (member === 'matches') return 'match';
  return member === 'backendRefs' ? 'backendRef' : undefined;
}
