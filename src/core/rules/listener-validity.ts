import { listenerConflicts, listenerNames, listenerNode, type CertificateNode, type ListenerNode } from '../graph/gateway.ts';
import { routeKindsOf, servedProtocols, terminatesTls } from '../graph/protocols.ts';
import type { Reader } from '../incremental/reader.ts';
import type { Path } from '../resources/path.ts';
import type { Resource } from '../resources/resource.ts';
import { nearest } from '../text/suggest.ts';
import { rule, type Consequence, type Effect, type Finding, type Profile } from './rule.ts';

const warned: Readonly<Record<Profile, Effect>> = { audit: 'record', standard: 'warn', strict: 'warn' };

type ListenerFinding = Omit<Finding, 'rule' | 'path'> & { readonly below?: Path };

/** Declares a rule that looks at one listener at a time. `below` is the path inside the listener. */
function listenerRule(declaration: {
  readonly id: string;
  readonly summary: string;
  readonly about?: 'dialect';
  readonly consequence: Consequence;
  readonly source: string;
  judge(listener: ListenerNode, gateway: Resource<'Gateway'>, read: Reader): Iterable<ListenerFinding>;
}) {
  const { judge, ...frame } = declaration;
  return rule({
    ...frame,
    kinds: ['Gateway'],
    effect: warned,
    check(gateway, read, report) {
      const { namespace, name } = gateway.ref;
      for (const listenerName of read.query(listenerNames, namespace, name)) {
        const listener = read.query(listenerNode, namespace, name, listenerName);
        if (listener === undefined) continue;
        for (const { below = [], ...found } of judge(listener, gateway, read)) report({ path: ['spec', 'listeners', listener.index, ...below], ...found });
      }
    },
  });
}

export const listenerConflict = listenerRule({
  id: 'listener-conflict',
  summary: 'Two listeners of a Gateway cannot share their port.',
  consequence: { condition: 'Conflicted', reason: 'ProtocolConflict', scope: 'listener' },
  source: 'Gateway API v1.7.0, Gateway.spec.listeners; ListenerConditionConflicted',
  *judge(listener, gateway, read) {
    const conflicts = read.query(listenerConflicts, gateway.ref.namespace, gateway.ref.name);
    const conflict = Object.hasOwn(conflicts, listener.name) ? conflicts[listener.name] : undefined;
    if (conflict === undefined) return;
    const why = conflict.reason === 'ProtocolConflict' ? `another protocol on port ${listener.port}` : `the same hostname on port ${listener.port}`;
    yield {
      value: listener.name,
      consequence: { condition: 'Conflicted', reason: conflict.reason, scope: 'listener' },
      message: `Listener ${listener.name} conflicts with listener ${conflict.winner}, which has ${why} and comes first, so ${conflict.winner} keeps working and ${listener.name} does not. Give ${listener.name} another port${conflict.reason === 'HostnameConflict' ? ' or hostname' : ''}.`,
    };
  },
});

export const listenerProtocolUnsupported = listenerRule({
  id: 'listener-protocol-unsupported',
  about: 'dialect',
  summary: 'The listener asks for a protocol that is not served.',
  consequence: { condition: 'Accepted', reason: 'UnsupportedProtocol', scope: 'listener' },
  source: 'Gateway API v1.7.0, Listener.protocol; ListenerReasonUnsupportedProtocol',
  *judge(listener) {
    if (routeKindsOf(listener.protocol) !== undefined) return;
    const near = nearest(listener.protocol, servedProtocols());
    const cure = near === undefined ? `Protocols served are ${servedProtocols().join(', ')}.` : `Did you mean ${near}?`;
    yield { below: ['protocol'], value: listener.protocol, message: `The protocol ${listener.protocol === '' ? '(none)' : listener.protocol} is not served, so this listener gets no port. ${cure}` };
  },
});

export const listenerRouteKindsInvalid = listenerRule({
  id: 'listener-route-kinds-invalid',
  summary: 'allowedRoutes.kinds names a kind that the listener’s protocol cannot carry.',
  consequence: { condition: 'ResolvedRefs', reason: 'InvalidRouteKinds', scope: 'listener' },
  source: 'Gateway API v1.7.0, AllowedRoutes.kinds; ListenerReasonInvalidRouteKinds',
  *judge(listener) {
    const supported = routeKindsOf(listener.protocol);
    if (listener.invalidKinds.length === 0 || supported === undefined) return;
    const invalid = listener.invalidKinds.map((kind) => `${kind.group}/${kind.kind}`).join(', ');
    yield {
      below: ['allowedRoutes', 'kinds'],
      value: invalid,
      message: `A listener of protocol ${listener.protocol} cannot carry ${invalid}. Name only ${supported.map((kind) => kind.kind).join(', ')}, or leave kinds out.`,
    };
  },
});

export const listenerCertificateInvalid = listenerRule({
  id: 'listener-certificate-invalid',
  summary: 'A certificateRef of a listener does not lead to a usable certificate.',
  consequence: { condition: 'ResolvedRefs', reason: 'InvalidCertificateRef', scope: 'listener' },
  source: 'Gateway API v1.7.0, ListenerTLSConfig.certificateRefs; ListenerReasonInvalidCertificateRef, ListenerReasonRefNotPermitted',
  *judge(listener) {
    if (!terminatesTls(listener.protocol)) return;
    if (listener.certificates.length === 0) {
      yield { below: ['tls'], message: `Listener ${listener.name} terminates TLS but names no certificate. Add tls.certificateRefs with a Secret of type kubernetes.io/tls.` };
    }
    for (const certificate of listener.certificates) {
      const problem = describeCertificate(certificate);
      if (problem !== undefined) yield { below: ['tls', 'certificateRefs', certificate.index], ...problem };
    }
  },
});

function describeCertificate(certificate: CertificateNode): Omit<Finding, 'rule' | 'path'> | undefined {
  switch (certificate.type) {
    case 'usable':
      return undefined;
    case 'unsupportedKind':
      return { value: certificate.kind, message: `Certificates are read from Secrets only, not from ${certificate.kind}. Write kind: Secret and leave group out.` };
    case 'notPermitted':
      return {
        value: certificate.secret,
        consequence: { condition: 'ResolvedRefs', reason: 'RefNotPermitted', scope: 'listener' },
        message: `No ReferenceGrant lets this Gateway use the Secret ${certificate.secret} of another namespace. Its owner can allow it by a ReferenceGrant in that namespace, from kind Gateway to kind Secret.`,
      };
    case 'absent':
      return { value: certificate.secret, message: `Secret ${certificate.secret} has not been seen. Check name and namespace, or create it with type kubernetes.io/tls.` };
    case 'unusable':
      return { value: certificate.secret, message: `Secret ${certificate.secret} holds no usable certificate: ${certificate.problem}.` };
  }
}

export const listenerRules = [listenerConflict, listenerProtocolUnsupported, listenerRouteKindsInvalid, listenerCertificateInvalid];
