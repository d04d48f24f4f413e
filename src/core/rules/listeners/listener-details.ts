import { display, quote } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { deniedWhenStrict, recorded, warned } from '../engine/effects.ts';
import { isSubdomain } from '../objects/qualified-key.ts';

// What listeners say that has no effect, or another one than it seems.

interface Reference {
  readonly group?: string;
  readonly kind?: string;
  readonly name?: string;
}

interface Listener {
  readonly name?: string;
  readonly port?: number;
  readonly protocol?: string;
  readonly tls?: { readonly mode?: string; readonly certificateRefs?: readonly Reference[] };
}

export const tlsModesMixed = unenforcedRule({
  id: 'tls-modes-mixed',
  summary: 'Listeners of protocol TLS on one port terminate TLS and pass it through.',
  effect: warned,
  source: 'Gateway API v1.7.0, ListenerTLSConfig.mode; GEP-2643 (TLSRouteModeMixed is extended)',
}, function judge(listeners: readonly Listener[], report) {
  for (const [index, { port, protocol, tls: { mode = 'Terminate' } = {} }] of listeners.entries()) {
    const other = listeners.slice(0, index).findIndex((one) => one.protocol === 'TLS' && one.port === port && (one.tls?.mode ?? 'Terminate') !== mode);
    if (protocol !== 'TLS' || port === undefined || other === -1) continue;
    report({ below: [index, 'tls', 'mode'], value: mode, message: `listeners[${other}] has the same port ${port} and another TLS mode, which not every implementation can serve. Write another port, or the same mode for both.` });
  }
});

export const certificatesWithoutUse = unenforcedRule({
  id: 'certificates-without-use',
  summary: 'A listener that passes TLS through has certificates.',
  effect: warned,
  source: 'Gateway API v1.7.0, ListenerTLSConfig.certificateRefs (ignored with mode Passthrough)',
}, function judge({ tls: { mode, certificateRefs = [] } = {} }: Listener, report) {
  if (mode !== 'Passthrough' || certificateRefs.length === 0) return;
  report({ below: ['tls', 'certificateRefs'], message: 'With mode: Passthrough backends terminate TLS, so these certificates are never shown. Remove certificateRefs, or write mode: Terminate.' });
});

export const severalCertificates = unenforcedRule({
  id: 'several-certificates',
  summary: 'A listener has more than one certificate.',
  effect: warned,
  source: 'Gateway API v1.7.0, ListenerTLSConfig.certificateRefs (support for more than one is implementation-specific)',
}, function judge({ tls: { mode = 'Terminate', certificateRefs = [] } = {} }: Listener, report) {
  if (mode !== 'Terminate' || certificateRefs.length < 2) return;
  report({ below: ['tls', 'certificateRefs'], value: String(certificateRefs.length), message: `This listener has ${certificateRefs.length} certificates; which one a client sees is up to the implementation, and some use the first alone. Write a listener for each hostname, with one certificate.` });
});

/** Keys of maps are beyond the reach of CRDs. */
export const optionKey = unenforcedRule({
  id: 'option-key',
  summary: 'The key of a TLS option has no domain of an implementation before it.',
  effect: deniedWhenStrict,
  source: 'Gateway API v1.7.0, ListenerTLSConfig.options and BackendTLSPolicySpec.options ("MUST be prefixed" by implementations; others are reserved)',
}, function judge(options: Readonly<Record<string, unknown>>, report) {
  for (const key of Object.keys(options)) {
    const [domain = '', ...rest] = key.split('/');
    if (rest.length === 1 && isSubdomain(domain) && /^(?:[A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]$/.test(rest[0] ?? '')) continue;
    report({ below: [key], value: display(key), message: `The option ${quote(key)} has no domain before it; such keys are reserved, so no implementation knows it. Write the key as your implementation documents it, e.g. example.com/min-version.` });
  }
});

export const routeKindRepeated = unenforcedRule({
  id: 'route-kind-repeated',
  summary: 'A listener allows one kind of route twice.',
  effect: warned,
  source: 'Gateway API v1.7.0, AllowedRoutes.kinds',
}, function judge(kinds: readonly Reference[], report) {
  for (const [index, { group, kind }] of kinds.entries()) {
    const before = kinds.findIndex((other) => other.group === group && other.kind === kind);
    if (before !== index) report({ below: [index], value: display(kind ?? ''), message: `kinds[${before}] allows ${quote(kind)} already. Remove this entry, or write the kind that was meant.` });
  }
});

interface Namespaces {
  readonly from?: string;
  readonly selector?: object;
}

export const selectorWithoutEffect = unenforcedRule({
  id: 'selector-without-effect',
  summary: 'Namespaces have a selector, but are not chosen by it.',
  effect: warned,
  source: 'Gateway API v1.7.0, RouteNamespaces.selector ("ignored for other values of From")',
}, function judge({ from = 'Same', selector }: Namespaces, report) {
  if (selector === undefined || from === 'Selector') return;
  report({ below: ['selector'], message: `from is ${from}, so this selector is ignored. Write from: Selector, or remove selector.` });
});

interface Filters {
  readonly requests?: readonly { readonly type?: string }[];
}

export const listenerFiltersEmpty = unenforcedRule({
  id: 'listener-filters-empty',
  summary: 'A listener has filters, but none of requests.',
  effect: recorded,
  source: 'Gateway API v1.7.0, Listener.filters; GEP-5224',
}, function judge({ requests = [] }: Filters, report) {
  if (requests.length > 0) return;
  report({ below: ['requests'], message: 'filters holds no filter, so every request passes unchecked. Write requests with the filters, or remove filters.' });
});

export const listenerFilterRepeated = unenforcedRule({
  id: 'listener-filter-repeated',
  summary: 'A listener asks two servers, one after the other, whether a request may pass.',
  effect: warned,
  source: 'Gateway API v1.7.0, ListenerFilter.type (each filter runs, in order); GEP-5224',
}, function judge(requests: readonly { readonly type?: string }[], report) {
  for (const [index, { type }] of requests.entries()) {
    const before = requests.findIndex((other) => other.type === type);
    if (type === 'ExternalAuth' && before !== index) report({ below: [index], value: type, message: `requests[${before}] asks a server already, so each request waits for two answers. Remove one of the two unless both have to agree.` });
  }
});
