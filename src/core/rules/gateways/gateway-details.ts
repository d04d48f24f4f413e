import { display, quote } from '../../text/display.ts';
import { parseIpAddress } from '../../text/ip-address.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { recorded, warned } from '../engine/effects.ts';

// What Gateways and their classes say beside listeners.

interface Gateway {
  readonly listeners?: readonly { readonly port?: number; readonly protocol?: string }[];
  readonly tls?: { readonly frontend?: { readonly perPort?: readonly { readonly port?: number }[] } };
}

export const clientValidationWithoutListener = unenforcedRule({
  id: 'client-validation-without-listener',
  summary: 'Certificates of clients are to be checked on a port where no HTTPS listener is.',
  effect: warned,
  source: 'Gateway API v1.7.0, FrontendTLSConfig.perPort; GEP-91',
}, function judge({ listeners = [], tls }: Gateway, report) {
  for (const [index, { port }] of (tls?.frontend?.perPort ?? []).entries()) {
    if (port === undefined || listeners.some((listener) => listener.port === port && listener.protocol === 'HTTPS')) continue;
    const ports = [...new Set(listeners.filter(({ protocol }) => protocol === 'HTTPS').map((listener) => listener.port))];
    const cure = ports.length === 0 ? 'Add an HTTPS listener with this port' : `HTTPS listeners have port ${ports.join(', ')}; write one of them`;
    report({ below: ['tls', 'frontend', 'perPort', index, 'port'], value: String(port), message: `No HTTPS listener of this Gateway has port ${port}, so nobody is checked by this. ${cure}, unless a ListenerSet brings one.` });
  }
});

const reservedLabels = ['gateway.networking.k8s.io/gateway-name', 'gateway.networking.k8s.io/gateway-class-name'];

export const infrastructureLabelReserved = unenforcedRule({
  id: 'infrastructure-label-reserved',
  summary: 'A Gateway sets a label by which implementations find what belongs to it.',
  effect: warned,
  source: 'Gateway API v1.7.0, well-known labels GatewayNameLabelKey and GatewayClassNameLabelKey; GEP-1762',
}, function judge(labels: Readonly<Record<string, string>>, report) {
  for (const key of reservedLabels) {
    if (Object.hasOwn(labels, key)) report({ below: [key], value: display(labels[key] ?? ''), message: `Implementations set the label ${key} themselves, and find by it what belongs to a Gateway. Remove it, or write a label with a domain of your own.` });
  }
});

interface Address {
  readonly type?: string;
  readonly value?: string;
  readonly routability?: string;
}

export const addressSpeltTwice = unenforcedRule({
  id: 'address-spelt-twice',
  summary: 'A Gateway asks for one IPv6 address twice, spelt in two ways.',
  effect: warned,
  source: 'Gateway API v1.7.0, GatewaySpec.addresses ("IPAddress values must be unique"); RFC 5952',
}, function judge(addresses: readonly Address[], report) {
  const first = new Map<bigint, number>();
  for (const [index, { type = 'IPAddress', value = '' }] of addresses.entries()) {
    const key = type === 'IPAddress' && value.includes(':') ? parseIpAddress(value) : undefined;
    if (key === undefined) continue;
    const before = first.get(key);
    if (before === undefined) first.set(key, index);
    else if (addresses[before]?.value !== value) report({ below: [index, 'value'], value: display(value), message: `${quote(value)} is the address that addresses[${before}] spells ${quote(addresses[before]?.value)}. Remove one of them.` });
  }
});

export const addressAskedTwice = unenforcedRule({
  id: 'address-asked-twice',
  summary: 'A Gateway asks for any address of one type more than once.',
  effect: recorded,
  source: 'Gateway API v1.7.0, GatewaySpecAddress.value (empty: chosen by the implementation); GEP-5093',
}, function judge(addresses: readonly Address[], report) {
  for (const [index, { type, value = '', routability = '' }] of addresses.entries()) {
    const before = addresses.findIndex((other) => other.type === type && (other.value ?? '') === '' && (other.routability ?? '') === routability);
    if (value !== '' || before === index) continue;
    report({ below: [index], message: `addresses[${before}] asks for any address of type ${type} already, so this asks for a second one. Remove it unless two are meant.` });
  }
});

export const routabilityUnusual = unenforcedRule({
  id: 'routability-unusual',
  summary: 'An address is to be reachable from where probably no implementation can offer it.',
  effect: warned,
  source: 'GEP-5093, Address routability (unknown values are never satisfied)',
}, function judge({ type = 'IPAddress', routability = '' }: Address, report) {
  const shown = { below: ['routability'], value: display(routability) };
  if (routability.startsWith('testing.x-k8s.io/') && routability !== 'testing.x-k8s.io/sentinel') {
    report({ ...shown, message: `testing.x-k8s.io is for tests, and knows no ${quote(routability)}, so no address is ever assigned. Write Cluster or a value of your implementation.` });
  } else if (/\s/.test(routability)) {
    report({ ...shown, message: `The routability ${quote(routability)} holds white space, so no implementation knows it. Write it without, e.g. example.com/vpc.` });
  } else if (routability === 'Cluster' && type !== 'IPAddress') {
    report({ ...shown, message: `Whether a name leads to addresses of the cluster alone is for DNS to say, so routability: Cluster of type ${display(type)} may never be satisfied. Write type: IPAddress.` });
  }
});

interface Reference {
  readonly group?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
}

export const clientAuthorityUncommon = unenforcedRule({
  id: 'client-authority-uncommon',
  summary: 'Certificates of clients are checked by something other than one ConfigMap.',
  effect: warned,
  source: 'Gateway API v1.7.0, FrontendTLSValidation.caCertificateRefs (one ConfigMap is core; more, and other kinds, are not); GEP-91',
}, function judge(refs: readonly Reference[], report) {
  if (refs.length > 1) report({ below: [], value: String(refs.length), message: `There are ${refs.length} references to authorities, but implementations need to support only one. Put all certificates into one ConfigMap.` });
  for (const [index, { group = '', kind = '' }] of refs.entries()) {
    if ((group === '' && kind === 'ConfigMap') || (group === 'certificates.k8s.io' && kind === 'ClusterTrustBundle')) continue;
    report({ below: [index, 'kind'], value: display(group === '' ? kind : `${group}/${kind}`), message: `Implementations need to support a ConfigMap here, not the kind ${quote(kind)} of the group ${quote(group)}. Write kind: ConfigMap and group: "".` });
  }
});

/** The experimental channel refuses it since v1.7. */
export const trustBundleNamespaceIgnored = unenforcedRule({
  id: 'trust-bundle-namespace-ignored',
  summary: 'A reference to a ClusterTrustBundle has a namespace, which such an object does not have.',
  effect: warned,
  source: 'GEP-5075, ClusterTrustBundle references; Gateway API v1.7.0, FrontendTLSValidation.caCertificateRefs',
}, function judge({ kind, namespace }: Reference, report) {
  if (kind !== 'ClusterTrustBundle' || namespace === undefined) return;
  report({ below: ['namespace'], value: display(namespace), message: `A ClusterTrustBundle is in no namespace, so ${quote(namespace)} is ignored at best; the experimental channel refuses it. Remove namespace.` });
});

const namespacedKinds: ReadonlySet<string> = new Set(['ConfigMap', 'Secret', 'Service']);
const clusterKinds: ReadonlySet<string> = new Set(['Namespace', 'Node', 'PersistentVolume']);

export const classParametersNamespace = unenforcedRule({
  id: 'class-parameters-namespace',
  summary: 'The parameters of a GatewayClass lack their namespace, or have one that their kind does not have.',
  effect: warned,
  source: 'Gateway API v1.7.0, ParametersReference.namespace ("required when referring to a Namespace-scoped resource and MUST be unset when referring to a Cluster-scoped resource")',
}, function judge({ group = '', kind = '', namespace }: Reference, report) {
  if (group !== '') return;
  if (namespacedKinds.has(kind) && namespace === undefined) report({ below: ['namespace'], message: `A GatewayClass is in no namespace, so parametersRef has to say where the ${kind} is. Write namespace with that of the ${kind}.` });
  if (clusterKinds.has(kind) && namespace !== undefined) report({ below: ['namespace'], value: display(namespace), message: `A ${kind} is in no namespace. Remove namespace.` });
});
