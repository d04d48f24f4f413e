import { display, quote } from '../../text/display.ts';
import { demand, specificationRule, type Violation } from '../engine/demand.ts';

export const qualifiedKey = specificationRule({
  id: 'qualified-key',
  summary: 'The key of a label or annotation has invalid syntax.',
  source:
    'Gateway API v1.7.0, LabelKey and AnnotationKey; Kubernetes, "Labels and Selectors", syntax and character set',
});

const subdomain = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
const name = /^(?:[A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]$/;
const maximumSubdomain = 253;
const maximumQualifiedName = maximumSubdomain + '/'.length + 63;

/** Returns whether the text is a DNS subdomain (RFC 1123), in lower case. */
export function isSubdomain(text: string): boolean {
  return text.length <= maximumSubdomain && subdomain.test(text);
}

/** Returns whether the text is a valid label key: a name, with or without a domain and a slash before it. */
export function isQualifiedName(text: string): boolean {
  if (text.length > maximumQualifiedName) return false;
  const parts = text.split('/');
  return name.test(parts.at(-1) ?? '') && (parts.length === 1 || (parts.length === 2 && isSubdomain(parts[0] ?? '')));
}

type Entries = Readonly<Record<string, unknown>>;

function violation(key: string): Violation {
  return {
    below: [key],
    value: display(key),
    message: `Invalid key ${quote(key)}. Use up to 63 letters, digits, "-", "_" and ".", with an optional domain prefix, for example team or example.com/team.`,
  };
}

/** For Gateways. The length limit of the prefix also applies to a key without "/". */
export const infrastructureKeys = demand(
  qualifiedKey,
  function judge(entries: Entries, report) {
    for (const key of Object.keys(entries)) {
      const [first = ''] = key.split('/', 1);
      const rest = key.includes('/') ? key.slice(first.length + 1) : key;
      const isValid = name.test(rest) && (rest === key || subdomain.test(first)) && first.length < maximumSubdomain;
      if (!isValid) report(violation(key));
    }
  },
  'infrastructure',
);

export const selectorKeys = demand(
  qualifiedKey,
  function judge(entries: Entries, report) {
    for (const key of Object.keys(entries)) {
      if (!isQualifiedName(key)) report(violation(key));
    }
  },
  'selector',
);
