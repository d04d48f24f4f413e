import { formatPath, type Path } from '../resources/path.ts';
import { rule, type Consequence, type Scope } from './rule.ts';

/**
 * The API server stores objects that no present schema would accept. What has the wrong JSON type is left out when
 * reading, and this rule makes the part of the object that it belongs to fail closed. In admission the schema itself
 * speaks, hence no effect here.
 */
export const unreadableField = rule({
  id: 'unreadable-field',
  kinds: ['GatewayClass', 'Gateway', 'HTTPRoute'],
  summary: 'A field has the wrong JSON type and could not be read.',
  effect: { audit: 'none', standard: 'none', strict: 'none' },
  consequence: { condition: 'Accepted', reason: 'UnsupportedValue', scope: 'object' },
  source: 'Gateway API design guide, "Limitations of CRD and Webhook Validation"; GEP-922, "Implementers"',
  check(subject, _read, report) {
    for (const { path, expected, found } of subject.unreadable) {
      report({
        path,
        value: found,
        consequence: consequenceAt(path),
        message: `${formatPath(path)} should be ${expected} but is ${found}. Write ${expected} there, or leave the field out.`,
      });
    }
  },
});

const partScopes: Readonly<Record<string, Scope>> = { parentRefs: 'parentRef', listeners: 'listener', rules: 'rule' };

function consequenceAt(path: Path): Consequence {
  const accepted = (scope: Scope): Consequence => ({ condition: 'Accepted', reason: 'UnsupportedValue', scope });
  const [, field, position, member, memberPosition] = path;
  // A route with unreadable hostnames still serves the readable ones; it is the attachment that narrows.
  if (typeof field !== 'string' || typeof position !== 'number') return accepted('object');
  if (field === 'rules' && member === 'matches' && typeof memberPosition === 'number') return accepted('match');
  if (field === 'rules' && member === 'backendRefs' && typeof memberPosition === 'number') return accepted('backendRef');
  return accepted(Object.hasOwn(partScopes, field) ? (partScopes[field] ?? 'object') : 'object');
}
