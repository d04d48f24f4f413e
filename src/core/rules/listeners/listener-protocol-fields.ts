import { isReadable } from '../../resources/resource.ts';
import { type ViewAt } from '../../schema/index.ts';
import { display, quote } from '../../text/display.ts';
import { demand, violationsAt, type Demand, type ReportViolation } from '../engine/demand.ts';
import { denied } from '../engine/effects.ts';
import { rule } from '../engine/rule.ts';
import { listenerTlsMode } from '../../semantics/intended.ts';

/** A listener that terminates TLS, but has no certificate, is reported by another rule, because another object may fix it. */
export const listenerProtocolFields = rule({
  id: 'listener-protocol-fields',
  kinds: ['Gateway', 'ListenerSet'],
  summary:
    'A listener has a tls, hostname or filters field that conflicts with its protocol, or lacks one that its protocol requires.',
  effect: denied,
  consequence: { condition: 'Accepted', reason: 'UnsupportedValue', scope: 'listener' },
  source: 'Gateway API v1.7.0, Listener.protocol, .hostname, .tls and .filters; ListenerTLSConfig.mode',
  check(owner, _read, report) {
    for (const [index, listener] of (owner.spec?.listeners ?? []).entries()) {
      const path = ['spec', 'listeners', index];
      const reportReadable = violationsAt(path, (found) => !isReadable(owner, found.path) || report(found));
      for (const judge of judges) judge(listener, reportReadable);
    }
  },
});

/** A listener of a Gateway or ListenerSet. */
type ListenerView = ViewAt<'Gateway', 'spec.listeners[]'>;

type Judge = (listener: ListenerView, report: ReportViolation) => void;

/** The fix for `tls` on a protocol without TLS. */
const plainProtocols: ReadonlyMap<string, string> = new Map([
  ['HTTP', 'Remove tls, or use protocol: HTTPS'],
  ['TCP', 'Remove tls, or use protocol: TLS'],
  ['UDP', 'Remove tls'],
]);

function plainWithTls({ protocol = '', tls }: ListenerView, report: ReportViolation): void {
  const cure = plainProtocols.get(protocol);
  if (cure === undefined || tls === undefined) return;
  report({ below: ['tls'], message: `tls conflicts with protocol ${protocol}, which has no TLS. ${cure}.` });
}

function streamWithHostname({ protocol, hostname = '' }: ListenerView, report: ReportViolation): void {
  if ((protocol !== 'TCP' && protocol !== 'UDP') || hostname === '') return;
  const cure = `Remove hostname${protocol === 'TCP' ? ', or use protocol: TLS' : ''}.`;
  report({
    below: ['hostname'],
    value: display(hostname),
    message: `hostname conflicts with protocol ${protocol}, which carries no hostname. ${cure}`,
  });
}

function httpsPassthrough({ protocol, tls }: ListenerView, report: ReportViolation): void {
  const mode = listenerTlsMode(tls);
  if (protocol !== 'HTTPS' || mode === 'Terminate') return;
  report({
    below: ['tls', 'mode'],
    value: display(mode),
    message: `Invalid mode ${quote(mode)}: a listener with protocol HTTPS must terminate TLS. Use mode: Terminate, or use protocol: TLS for passthrough.`,
  });
}

function tlsMissing({ protocol, tls }: ListenerView, report: ReportViolation): void {
  if (protocol !== 'TLS' || tls !== undefined) return;
  report({
    below: ['tls'],
    message:
      'tls is required with protocol TLS. Set tls with mode: Passthrough, or with mode: Terminate and certificateRefs.',
  });
}

/** Bundles check filters only on Gateways, but the text is the same for ListenerSets. */
const judges: readonly Judge[] = [plainWithTls, streamWithHostname, httpsPassthrough, tlsMissing, filtersWithoutHttp];

function secureWithoutTls(listener: ListenerView, report: ReportViolation): void {
  tlsMissing(listener, report);
  if (listener.protocol !== 'HTTPS' || listener.tls !== undefined) return;
  report({
    below: ['tls'],
    message: 'tls is required with protocol HTTPS in this bundle. Set tls with certificateRefs, or use protocol: HTTP.',
  });
}

function filtersWithoutHttp({ protocol, filters }: ListenerView, report: ReportViolation): void {
  if (filters === undefined || protocol === 'HTTP' || protocol === 'HTTPS') return;
  report({
    below: ['filters'],
    message: `filters conflicts with protocol ${display(protocol ?? '')}: filters apply to HTTP requests. Remove filters, or use protocol: HTTP or HTTPS.`,
  });
}

function ofEach(variant: string, judge: Judge): Demand<readonly ListenerView[]> {
  return demand(
    listenerProtocolFields,
    function judgeAll(listeners, report) {
      for (const [index, listener] of listeners.entries()) {
        judge(listener, ({ below, ...found }) => report({ below: [index, ...below], ...found }));
      }
    },
    variant,
  );
}

export const plainWithoutTls = ofEach('plain', plainWithTls);
export const streamsWithoutHostname = ofEach('stream', streamWithHostname);
export const httpsTerminates = ofEach('https', httpsPassthrough);
export const tlsHasSettings = ofEach('tls', tlsMissing);
/** Only v1.0 requires this for HTTPS. */
export const secureHasSettings = ofEach('secure', secureWithoutTls);
export const filtersNeedHttp = demand(listenerProtocolFields, filtersWithoutHttp, 'filters');
