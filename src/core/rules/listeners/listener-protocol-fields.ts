import { isReadable } from '../../resources/resource.ts';
import { display } from '../../text/display.ts';
import { demand, violationsAt, type Demand, type ReportViolation } from '../engine/demand.ts';
import { denied } from '../engine/effects.ts';
import { rule } from '../engine/rule.ts';

/** A listener that terminates TLS but names no certificate is the concern of another rule: another object may cure it. */
export const listenerProtocolFields = rule({
  id: 'listener-protocol-fields',
  kinds: ['Gateway', 'ListenerSet'],
  summary: 'A listener has TLS settings, a hostname or filters that its protocol cannot have, or lacks those that it needs.',
  effect: denied,
  consequence: { condition: 'Accepted', reason: 'UnsupportedValue', scope: 'listener' },
  source: 'Gateway API v1.7.0, Listener.protocol, .hostname, .tls and .filters; ListenerTLSConfig.mode',
  check(owner, _read, report) {
    for (const [index, listener] of (owner.spec?.listeners ?? []).entries()) {
      const path = ['spec', 'listeners', index];
      const reportReadable = violationsAt(path, (found) => { if (isReadable(owner, found.path)) report(found); });
      for (const judge of judges) judge(listener, reportReadable);
    }
  },
});

/** Listeners of Gateways and ListenerSets alike. */
interface ListenerView {
  readonly protocol?: string;
  readonly hostname?: string;
  readonly tls?: { readonly mode?: string };
  readonly filters?: object;
}

type Judge = (listener: ListenerView, report: ReportViolation) => void;

/** What to do about `tls` on a protocol that has none. */
const plainProtocols: ReadonlyMap<string, string> = new Map([
  ['HTTP', 'Remove tls, or write protocol: HTTPS'],
  ['TCP', 'Remove tls, or write protocol: TLS'],
  ['UDP', 'Remove tls'],
]);

function plainWithTls({ protocol = '', tls }: ListenerView, report: ReportViolation): void {
  const cure = plainProtocols.get(protocol);
  if (cure === undefined || tls === undefined) return;
  report({ below: ['tls'], message: `A listener of protocol ${protocol} has no TLS, but tls is set. ${cure}.` });
}

function streamWithHostname({ protocol, hostname = '' }: ListenerView, report: ReportViolation): void {
  if ((protocol !== 'TCP' && protocol !== 'UDP') || hostname === '') return;
  const cure = `Remove hostname${protocol === 'TCP' ? ', or write protocol: TLS' : ''}.`;
  report({ below: ['hostname'], value: display(hostname), message: `${protocol} carries no hostname that could be compared. ${cure}` });
}

function httpsPassthrough({ protocol, tls: { mode = 'Terminate' } = {} }: ListenerView, report: ReportViolation): void {
  if (protocol !== 'HTTPS' || mode === 'Terminate') return;
  report({ below: ['tls', 'mode'], value: display(mode), message: 'An HTTPS listener must read requests, so it has to terminate TLS. Write mode: Terminate, or protocol: TLS to pass connections through.' });
}

function tlsMissing({ protocol, tls }: ListenerView, report: ReportViolation): void {
  if (protocol !== 'TLS' || tls !== undefined) return;
  report({ below: ['tls'], message: 'A listener of protocol TLS needs tls. Write tls with mode: Passthrough, or with mode: Terminate and certificateRefs.' });
}

/** Of filters bundles ask on Gateways alone, though the text says the same of ListenerSets. */
const judges: readonly Judge[] = [plainWithTls, streamWithHostname, httpsPassthrough, tlsMissing, filtersWithoutHttp];

function secureWithoutTls(listener: ListenerView, report: ReportViolation): void {
  tlsMissing(listener, report);
  if (listener.protocol !== 'HTTPS' || listener.tls !== undefined) return;
  report({ below: ['tls'], message: 'A listener of protocol HTTPS needs tls in this bundle. Write tls with certificateRefs, or protocol: HTTP.' });
}

function filtersWithoutHttp({ protocol, filters }: ListenerView, report: ReportViolation): void {
  if (filters === undefined || protocol === 'HTTP' || protocol === 'HTTPS') return;
  report({ below: ['filters'], message: `Filters look at HTTP requests, which a listener of protocol ${display(protocol ?? '')} has none of. Remove filters, or write protocol: HTTP or HTTPS.` });
}

function ofEach(variant: string, judge: Judge): Demand<readonly ListenerView[]> {
  return demand(listenerProtocolFields, function judgeAll(listeners, report) {
    for (const [index, listener] of listeners.entries()) {
      judge(listener, ({ below, ...found }) => report({ below: [index, ...below], ...found }));
    }
  }, variant);
}

export const plainWithoutTls = ofEach('plain', plainWithTls);
export const streamsWithoutHostname = ofEach('stream', streamWithHostname);
export const httpsTerminates = ofEach('https', httpsPassthrough);
export const tlsHasSettings = ofEach('tls', tlsMissing);
/** Of HTTPS only v1.0 demands it. */
export const secureHasSettings = ofEach('secure', secureWithoutTls);
export const filtersNeedHttp = demand(listenerProtocolFields, filtersWithoutHttp, 'filters');
