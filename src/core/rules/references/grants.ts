import { display, quote } from '../../text/display.ts';
import { nearest } from '../../text/suggest.ts';
import { unenforcedRule, type ReportViolation } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { WholeObject } from '../engine/written-object.ts';

// ReferenceGrants that grant nothing, or more than they seem to.

interface Party {
  readonly group?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
}

const gatewayKinds: ReadonlySet<string> = new Set(['Gateway', 'ListenerSet', 'HTTPRoute', 'GRPCRoute', 'TLSRoute', 'TCPRoute', 'UDPRoute', 'BackendTLSPolicy']);
const coreKinds: ReadonlySet<string> = new Set(['Service', 'Secret', 'ConfigMap']);
const gatewayGroup = 'gateway.networking.k8s.io';

/** The kinds of a group that are known well enough to see a misspelling. */
const kindsOf: ReadonlyMap<string, ReadonlySet<string>> = new Map([[gatewayGroup, gatewayKinds], ['', coreKinds]]);

function judgeGroup({ group = '', kind = '' }: Party, report: ReportViolation): void {
  const known = kindsOf.get(group);
  const near = known === undefined || known.has(kind) ? undefined : nearest(kind, known);
  if (near !== undefined) report({ below: ['kind'], value: display(kind), message: `There is no kind ${quote(kind)} in the group ${quote(group)}, so this grants nothing. Did you mean ${near}?` });
  const wanted = gatewayKinds.has(kind) ? gatewayGroup : coreKinds.has(kind) ? '' : undefined;
  if (wanted === undefined || wanted === group) return;
  report({ below: ['group'], value: display(group), message: `There is no kind ${kind} in the group ${quote(group)}, so this grants nothing. Write group: ${wanted === '' ? '""' : wanted}.` });
}

export const grantGroup = unenforcedRule({
  id: 'grant-group',
  summary: 'The group and kind of a ReferenceGrant do not belong together.',
  effect: warned,
  source: 'Gateway API v1.7.0, ReferenceGrantFrom.group and ReferenceGrantTo.group',
}, judgeGroup);

type Grant = WholeObject<{ readonly from?: readonly Party[] }>;

export const grantWithinNamespace = unenforcedRule({
  id: 'grant-within-namespace',
  summary: 'A ReferenceGrant permits references from its own namespace, which need none.',
  effect: warned,
  source: 'Gateway API v1.7.0, ReferenceGrant (for references across namespaces)',
}, function judge({ metadata, spec }: Grant, report) {
  for (const [index, { namespace }] of (spec?.from ?? []).entries()) {
    if (namespace !== metadata.namespace) continue;
    report({ below: ['spec', 'from', index, 'namespace'], value: display(namespace), message: `References within ${quote(namespace)} need no ReferenceGrant. Write the namespace that refers to this one, or remove the entry.` });
  }
});

export const grantRepeated = unenforcedRule({
  id: 'grant-repeated',
  summary: 'A list of a ReferenceGrant has one entry twice.',
  effect: warned,
  source: 'Gateway API v1.7.0, ReferenceGrantSpec.from and .to',
}, function judge(parties: readonly Party[], report) {
  const first = new Map<string, number>();
  for (const [index, { group = '', kind = '', namespace = '', name = '' }] of parties.entries()) {
    const key = JSON.stringify([group, kind, namespace, name]);
    const before = first.get(key);
    if (before === undefined) first.set(key, index);
    else report({ below: [index], value: display(kind), message: `Entry ${before} of this list says the same. Remove one of them, or write what was meant.` });
  }
});

export const grantOfEverything = unenforcedRule({
  id: 'grant-of-everything',
  summary: 'A ReferenceGrant permits references to every object of a kind.',
  effect: warned,
  source: 'Gateway API v1.7.0, ReferenceGrantTo.name (unset: all of that kind); Gateway API, "Security considerations"',
}, function judge({ kind = '', name = '' }: Party, report) {
  if (name !== '') return;
  report({ below: ['name'], message: `Without name this permits references to every ${display(kind)} of this namespace, those to come among them. Write the name of each that is meant.` });
});
