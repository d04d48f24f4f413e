import type { ReferenceOutcome } from '../../graph/references.ts';
import { display } from '../../text/display.ts';
import type { Finding } from '../engine/rule.ts';

/**
 * Returns the problem of a reference to a client certificate; `undefined` if it is usable, or not observed. `effect` is the last
 * sentence of the message.
 */
export function describeClientCertificate(
  reference: ReferenceOutcome,
  { kind, effect }: { readonly kind: string; readonly effect: string },
): Omit<Finding, 'rule' | 'path'> | undefined {
  switch (reference.type) {
    case 'unsupportedKind':
      return {
        value: display(reference.kind),
        about: 'dialect',
        message: `Unsupported certificate kind ${display(reference.kind)}. Use kind: Secret and an empty group. ${effect}`,
      };
    case 'notPermitted':
      return {
        value: reference.target,
        message: `Reference to Secret "${reference.target}" is not permitted: it is in another namespace. Create a ReferenceGrant there, from kind ${kind} to kind Secret. ${effect}`,
      };
    case 'absent':
      return {
        value: reference.target,
        message: `Secret "${reference.target}" not found. Check its name and namespace, or create it with type kubernetes.io/tls. ${effect}`,
      };
    case 'unusable':
      return {
        value: reference.target,
        message: `Invalid certificate in Secret "${reference.target}": ${reference.problem}. ${effect}`,
      };
    case 'usable':
    case 'unobserved':
      return undefined;
  }
}
