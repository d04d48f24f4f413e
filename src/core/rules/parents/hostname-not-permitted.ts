import { attachments, type RefusedHostname } from '../../graph/attachment.ts';
import { refusedListeners } from '../../graph/listeners/listener-hostnames.ts';
import { listenersOf } from '../../graph/listeners/listeners.ts';
import { keyOf } from '../../incremental/key.ts';
import type { Reader } from '../../incremental/reader.ts';
import { quote } from '../../text/display.ts';
import { isNarrowerHostname } from '../../text/hostname.ts';
import { denied } from '../engine/effects.ts';
import { rule, type Consequence, type ReportFinding } from '../engine/rule.ts';
import { describeOwners, hostnameText } from './hostname-owners.ts';

const reason = 'HostnameNotPermitted';

/** The parent serves none of the hostnames. */
const notServed = { condition: 'Accepted', reason, scope: 'parentRef' } as const satisfies Consequence;

/** The parent serves other hostnames of the route. */
export const partlyServed = {
  condition: 'sallyport.dev/HostnameNotPermitted',
  reason,
  scope: 'parentRef',
} as const satisfies Consequence;

/** A listener of a ListenerSet with that hostname is not served. */
const listenerNotServed = { condition: 'Accepted', reason, scope: 'listener' } as const satisfies Consequence;

export const hostnameNotPermitted = rule({
  id: 'hostname-not-permitted',
  // TCPRoute and UDPRoute have no hostnames.
  kinds: ['HTTPRoute', 'GRPCRoute', 'TLSRoute', 'ListenerSet'],
  summary: 'A HostnamePolicy permits a hostname of the route or ListenerSet only in other namespaces.',
  effect: denied,
  consequence: notServed,
  varies: ['condition', 'reason', 'scope'],
  source: 'HostnamePolicy of sallyport.dev/v1alpha1; Gateway API security model, "Avoiding hostname/domain hijacking"',
  check({ kind, ref: { namespace, name } }, read, report) {
    if (kind === 'ListenerSet') {
      checkListeners({ namespace, name }, read, report);
      return;
    }
    for (const { index, outcome } of read.query(attachments, kind, namespace, name)) {
      if (outcome.type !== 'attached' && outcome.type !== 'notPermitted') continue;
      const distinct = new Map(
        (outcome.refused ?? []).map((refused) => [keyOf([refused.own, refused.owned]), refused]),
      );
      for (const refused of distinct.values()) {
        report({
          path: ['spec', 'parentRefs', index],
          value: refused.own,
          consequence: outcome.type === 'attached' ? partlyServed : notServed,
          message: `${problemOf(refused, namespace)} ${cureOf(refused)}`,
        });
      }
    }
  },
});

function checkListeners(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  read: Reader,
  report: ReportFinding,
): void {
  const refusedByName = read.query(refusedListeners, namespace, name);
  for (const listener of listenersOf(read, { kind: 'ListenerSet', namespace, name })) {
    const refused = Object.hasOwn(refusedByName, listener.name) ? refusedByName[listener.name] : undefined;
    if (refused === undefined) continue;
    report({
      path: ['spec', 'listeners', listener.index, 'hostname'],
      value: refused.own,
      consequence: listenerNotServed,
      message: `${problemOf(refused, namespace)} ${cureOf(refused)}`,
    });
  }
}

function problemOf(refused: RefusedHostname, namespace: string): string {
  const { gateway, own, served, owned } = refused;
  const hostname = own === '' ? hostnameText(served) : hostnameText(own);
  const inherited = own === '' ? `The route has no hostnames, so it serves ${hostname}. ` : '';
  const covered = isNarrowerHostname(owned, served) ? `, because this includes ${hostnameText(owned)}` : '';
  return `${inherited}Namespace ${quote(namespace)} may not serve ${hostname} on Gateway ${quote(gateway)}${covered}: ${describeOwners(refused)}.`;
}

function cureOf({ own }: RefusedHostname): string {
  const change = own === '' ? 'Set hostnames of this namespace' : 'Use a hostname of this namespace';
  return `${change}, or add the namespace to the policy.`;
}
