import { display, quote } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { WholeObject } from '../engine/written-object.ts';

const label = /^[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

/** Implementations derive the names of Services and labels from these names. */
export const gatewayName = unenforcedRule(
  {
    id: 'gateway-name',
    summary: 'The name of a Gateway or GatewayClass is not a DNS label of at most 63 characters.',
    effect: warned,
    source: 'Gateway API v1.7.0, Gateway and GatewayClass ("SHOULD be ... RFC 1035 label")',
  },
  function judge({ metadata: { name } }: WholeObject, report) {
    if (name === '' || label.test(name)) return;
    const problem = name.length > 63 ? `it has ${name.length} characters` : 'it is not a DNS label';
    report({
      below: ['metadata', 'name'],
      value: display(name),
      message: `Name ${quote(name)} is not portable: ${problem}, so some implementations cannot use it in the name of a Service or in a label. Use at most 63 lower-case letters, digits and "-", and start with a letter.`,
    });
  },
);
