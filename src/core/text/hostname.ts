import { quote } from './display.ts';

/** Kinds of errors in a hostname. Each rule handles some of them. */
export type HostnameProblemKind =
  | 'empty'
  | 'too-long'
  | 'label-too-long'
  | 'empty-label'
  | 'trailing-dot'
  | 'ip-address'
  | 'wildcard'
  | 'upper-case'
  | 'character'
  | 'hyphen';

export interface HostnameProblem {
  readonly kind: HostnameProblemKind;
  /** Describes the error and the fix. Starts in lower case and has no final full stop: it follows `Invalid hostname "…": `. */
  readonly message: string;
}

const maximumLength = 253;
const maximumLabelLength = 63;
/** The labels of longer texts are not read: a text of 3 MB may have a million labels with a problem each. */
const longestRead = 1_024;

/**
 * The problems of `text` as a Gateway API Hostname: RFC 1123 in lower case without a final dot, not an IP address, `*` only
 * as the whole first label. Empty if it is valid.
 */
export function hostnameProblems(text: string): readonly HostnameProblem[] {
  if (text.startsWith('*.') && text.length > 2)
    return preciseHostnameProblems(text.slice(2)).map(afterWildcard).map(withWildcardAdvice);
  return preciseHostnameProblems(text).map(withWildcardAdvice);
}

/** The problems of `text` as a PreciseHostname, which cannot have a wildcard. */
export function preciseHostnameProblems(text: string): readonly HostnameProblem[] {
  if (text === '') return [{ kind: 'empty', message: 'it is empty. Use a DNS name, for example shop.example.com' }];
  if (isIpAddress(text)) {
    return [{ kind: 'ip-address', message: 'it is an IP address. Use a DNS name, for example shop.example.com' }];
  }
  const problems: HostnameProblem[] = [];
  if (text.length > maximumLength) {
    problems.push({
      kind: 'too-long',
      message: `it has ${text.length} characters, and at most ${maximumLength} are allowed. Use a shorter name`,
    });
  }
  if (text.length > longestRead) return problems;
  const labels = text.split('.');
  if (labels.at(-1) === '') {
    labels.pop();
    problems.push({ kind: 'trailing-dot', message: `it ends with a dot. Use ${quote(text.slice(0, -1))}` });
  }
  for (const label of labels) {
    const problem = labelProblem(label);
    if (problem !== undefined) problems.push(problem);
  }
  return problems;
}

function afterWildcard(problem: HostnameProblem): HostnameProblem {
  if (problem.kind !== 'ip-address') return problem;
  return { kind: 'ip-address', message: 'an IP address follows "*.". Use a DNS name, for example *.example.com' };
}

function withWildcardAdvice(problem: HostnameProblem): HostnameProblem {
  if (problem.kind !== 'wildcard') return problem;
  return {
    kind: 'wildcard',
    message: 'it contains a wildcard. Use "*" only as the complete first label, for example *.example.com',
  };
}

const lowerCaseLabel = /^[a-z0-9-]+$/;
const validLabel = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;
const anyCaseLabel = /^[A-Za-z0-9-]+$/;

function labelProblem(label: string): HostnameProblem | undefined {
  if (label.length <= maximumLabelLength && validLabel.test(label)) return undefined;
  const shown = quote(label, 24);
  if (label === '')
    return {
      kind: 'empty-label',
      message: 'it starts with a dot, or contains two dots in a row. Remove the extra dot',
    };
  if (label.includes('*')) {
    return {
      kind: 'wildcard',
      message: 'it contains a wildcard, which is not allowed here. Use a DNS name without wildcard',
    };
  }
  if (label.length > maximumLabelLength) {
    return {
      kind: 'label-too-long',
      message: `label ${shown} has ${label.length} characters. Use at most ${maximumLabelLength} characters between two dots`,
    };
  }
  if (!anyCaseLabel.test(label)) {
    return {
      kind: 'character',
      message: `label ${shown} contains characters other than a-z, 0-9 and "-". Use the xn-- form of international names`,
    };
  }
  if (!lowerCaseLabel.test(label)) {
    return {
      kind: 'upper-case',
      message: `label ${shown} contains upper-case letters. Use ${quote(label.toLowerCase(), 24)}`,
    };
  }
  if (label.startsWith('-') || label.endsWith('-')) {
    return { kind: 'hyphen', message: `label ${shown} starts or ends with "-". Use a letter or digit at both ends` };
  }
  return undefined;
}

const dottedDecimal = /^[0-9]{1,3}(?:\.[0-9]{1,3}){3}$/;
const hexadecimalGroups = /^\[?[0-9A-Fa-f:.]*(?:%[A-Za-z0-9]+)?\]?$/;

/**
 * Whether the text is an IP address: dotted decimal with any numbers, because no hostname may have that form (RFC 1123
 * section 2.1), or IPv6 with or without brackets.
 */
export function isIpAddress(text: string): boolean {
  if (dottedDecimal.test(text)) return true;
  return hexadecimalGroups.test(text) && text.indexOf(':') !== text.lastIndexOf(':');
}

/**
 * Whether a hostname of a listener or route covers the host of a request (both lower case). A wildcard stands for one or
 * more labels: `*.example.com` matches `a.example.com` and `a.b.example.com`, but not `example.com`. The empty pattern means
 * "no hostname" and matches any host.
 */
export function hostnameMatches(pattern: string, host: string): boolean {
  if (pattern === '' || pattern === host) return true;
  return isWildcard(pattern) && hasSuffix(host, pattern.slice(1));
}

/**
 * The intersection of the hostnames of a listener and a route: the narrower one, or `undefined`. Either may be a wildcard,
 * or `''` for "any" (Gateway API HTTPRouteSpec.hostnames).
 */
export function intersectHostnames(listener: string, route: string): string | undefined {
  if (covers(listener, route)) return route;
  return covers(route, listener) ? listener : undefined;
}

/** Whether `wide` covers every host that `narrow` covers. */
function covers(wide: string, narrow: string): boolean {
  if (wide === '' || wide === narrow) return true;
  return isWildcard(wide) && hasSuffix(isWildcard(narrow) ? narrow.slice(1) : narrow, wide.slice(1));
}

/**
 * Returns the patterns that cover every host of a hostname, other than itself: for `a.example.com`, these are `*.example.com`,
 * `*.com` and `''`. The narrowest comes first. Those longer than any hostname are left out: a text of 3 MB may have a million labels.
 */
export function widerHostnames(hostname: string): readonly string[] {
  if (hostname === '') return [];
  const wider: string[] = [];
  let dot = hostname.indexOf('.', Math.max(isWildcard(hostname) ? '*.'.length : 0, suffixesBegin(hostname)));
  for (; dot !== -1; dot = hostname.indexOf('.', dot + 1)) wider.push(`*${hostname.slice(dot)}`);
  return [...wider, ''];
}

/** Whether a hostname covers only a part of the hosts of another one. */
export function isNarrowerHostname(hostname: string, wider: string): boolean {
  return hostname !== wider && covers(wider, hostname);
}

/** Returns a hostname in the form in which it is compared: case is not significant (RFC 4343). */
export function hostnameKey(hostname: string): string {
  return hostname.toLowerCase();
}

/** Whether a hostname stands for several hosts. */
export function isWideHostname(hostname: string): boolean {
  return hostname === '' || isWildcard(hostname);
}

/**
 * Returns the position from which on the suffixes of a host can be those of a wildcard. Longer suffixes match none, because no hostname has
 * more than 253 characters. Trying all suffixes takes time proportional to the square of the length of the host.
 */
export function suffixesBegin(host: string): number {
  return Math.max(host.length - '*'.length - maximumLength, 0);
}

function isWildcard(hostname: string): boolean {
  return hostname.startsWith('*.');
}

function hasSuffix(host: string, dottedSuffix: string): boolean {
  return host.length > dottedSuffix.length && host.endsWith(dottedSuffix);
}

const hostField = /^(?:\[[0-9A-Fa-f:.]+\]|(?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*)(?::[0-9]{0,5})?$/;

/**
 * The host of a Host header or authority, normalized for matching: without port and final dot, in lower case, IPv6 without
 * brackets; `''` if the host is empty. `undefined` if the text is not a valid `host [":" port]` (RFC 3986 section 3.2) or
 * has an empty label, which DNS does not allow; a server responds to both with 400.
 */
export function hostFromHeader(field: string): string | undefined {
  if (!hostField.test(field)) return undefined;
  const endOfAddress = field.indexOf(']');
  const colon = field.indexOf(':', endOfAddress + 1);
  if (colon !== -1 && Number(field.slice(colon + 1)) > 65_535) return undefined;
  if (endOfAddress !== -1) return hostnameKey(field.slice(1, endOfAddress));
  if (field === '') return '';
  const name = hostnameKey(colon === -1 ? field : field.slice(0, colon));
  const host = name.endsWith('.') ? name.slice(0, -1) : name;
  return hasEmptyLabel(host) ? undefined : host;
}

function hasEmptyLabel(host: string): boolean {
  return host === '' || host.startsWith('.') || host.endsWith('.') || host.includes('..');
}
