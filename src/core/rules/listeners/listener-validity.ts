import { listenerConflicts, tlsOverlaps, type ListenerConflict, type OtherListener } from '../../graph/gateway-listeners.ts';
import type { ListenerOwner } from '../../graph/listener-sets.ts';
import { readObject } from '../../graph/inputs.ts';
import type { ListenerNode } from '../../graph/listeners.ts';
import { routeKindsOf, servedProtocols, terminatesTls } from '../../graph/protocols.ts';
import type { ReferenceOutcome } from '../../graph/references.ts';
import { describeRef } from '../../resources/reference.ts';
import { display, quote } from '../../text/display.ts';
import { nearest } from '../../text/suggest.ts';
import { recorded } from '../engine/effects.ts';
import { listenerRule } from './listener-rule.ts';
import type { Finding } from '../engine/rule.ts';

export const listenerConflict = listenerRule({
  id: 'listener-conflict',
  summary: 'Listeners of a Gateway and its ListenerSets cannot be told apart, so not all of them are served.',
  consequence: { condition: 'Conflicted', reason: 'ProtocolConflict', scope: 'listener' },
  source: 'Gateway API v1.7.0, Gateway.spec.listeners ("Handling indistinct Listeners": "MUST NOT pick one conflicting Listener as the winner"), ListenerSet.spec.listeners (precedence)',
  *judge(listener, owner, read) {
    const conflicts = read.query(listenerConflicts, owner.kind, owner.namespace, owner.name);
    const conflict = Object.hasOwn(conflicts, listener.name) ? conflicts[listener.name] : undefined;
    if (conflict === undefined) return;
    const { reason } = conflict;
    yield {
      value: display(listener.name),
      consequence: { condition: 'Conflicted', reason, scope: 'listener' },
      message: describeConflict(conflict, listener, owner),
    };
  },
});

function describeConflict({ reason, standing, others }: ListenerConflict, { port }: ListenerNode, owner: ListenerOwner): string {
  const shared = reason === 'ProtocolConflict' ? 'different protocols' : 'the same hostname';
  const verdict = standing === 'tied' ? 'none may win, so none is served' : 'the Gateway comes first and then the oldest ListenerSet, so this one is not served';
  const cure = `Give each a port${reason === 'HostnameConflict' ? ' or hostname' : ''} of its own.`;
  return `This listener conflicts with ${nameOthers(others, owner)}: they ask for port ${port} with ${shared}, and ${verdict}. ${cure}`;
}

/** Listeners of the same owner go by their names alone. */
function nameOthers(others: readonly OtherListener[], owner: ListenerOwner): string {
  const isOwn = ({ kind, namespace, name }: OtherListener): boolean => kind === owner.kind && namespace === owner.namespace && name === owner.name;
  return others.map((other) => (isOwn(other) ? other.listener : `${other.listener} of ${describeRef(other)}`)).join(', ');
}

/** Legal and common, hence no warning; but whoever shares connections between such hosts should know. */
export const listenerTlsOverlap = listenerRule({
  id: 'listener-tls-overlap',
  summary: 'Listeners that terminate TLS on one port have overlapping hostnames.',
  effect: recorded,
  consequence: { condition: 'OverlappingTLSConfig', reason: 'OverlappingHostnames', scope: 'listener' },
  source: 'Gateway API v1.7.0, ListenerConditionOverlappingTLSConfig ("Controllers MUST detect the presence of overlapping hostnames")',
  *judge(listener, owner, read) {
    const overlaps = read.query(tlsOverlaps, owner.kind, owner.namespace, owner.name);
    const others = Object.hasOwn(overlaps, listener.name) ? overlaps[listener.name] : undefined;
    if (others === undefined) return;
    yield {
      below: ['hostname'],
      value: display(listener.hostname ?? ''),
      message: `The hostname overlaps with those of ${nameOthers(others, owner)} on port ${listener.port}: a client that reuses a connection may meet the other listener's TLS settings. Give the listeners hostnames that do not overlap, or make sure that their TLS settings agree.`,
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
    yield { below: ['protocol'], value: display(listener.protocol), message: `The protocol ${quote(listener.protocol)} is not served, so this listener gets no port. ${cure}` };
  },
});

export const listenerRouteKindsInvalid = listenerRule({
  id: 'listener-route-kinds-invalid',
  about: 'dialect',
  summary: "allowedRoutes.kinds names a kind that the listener's protocol cannot carry.",
  consequence: { condition: 'ResolvedRefs', reason: 'InvalidRouteKinds', scope: 'listener' },
  source: 'Gateway API v1.7.0, AllowedRoutes.kinds; ListenerReasonInvalidRouteKinds',
  *judge(listener) {
    const supported = routeKindsOf(listener.protocol);
    if (listener.invalidKinds.length === 0 || supported === undefined) return;
    const invalid = listener.invalidKinds.map((kind) => `${kind.group}/${kind.kind}`).join(', ');
    yield {
      below: ['allowedRoutes', 'kinds'],
      value: display(invalid),
      message: `A listener of protocol ${listener.protocol} cannot carry ${display(invalid)}. Name only ${supported.map((kind) => kind.kind).join(', ')}, or leave kinds out.`,
    };
  },
});

export const listenerCertificateInvalid = listenerRule({
  id: 'listener-certificate-invalid',
  summary: 'A certificateRef of a listener does not lead to a usable certificate.',
  consequence: { condition: 'ResolvedRefs', reason: 'InvalidCertificateRef', scope: 'listener' },
  source: 'Gateway API v1.7.0, ListenerTLSConfig.certificateRefs; ListenerReasonInvalidCertificateRef, ListenerReasonRefNotPermitted',
  *judge(listener, owner, read) {
    if (!terminatesTls(listener.protocol)) return;
    const { kind, namespace, name } = owner;
    const { options = {} } = readObject(read, kind, namespace, name)?.spec?.listeners?.[listener.index]?.tls ?? {};
    if (listener.certificates.length === 0 && Object.keys(options).length > 0) {
      yield { below: ['tls', 'certificateRefs'], about: 'dialect', message: `Listener ${listener.name} leaves its certificate to options, which are not known here. Write certificateRefs with a Secret of type kubernetes.io/tls.` };
    }
    for (const certificate of listener.certificates) {
      const problem = describeCertificate(certificate, kind);
      if (problem !== undefined) yield { below: ['tls', 'certificateRefs', certificate.index], ...problem };
    }
  },
});

function describeCertificate(certificate: ReferenceOutcome, fromKind: string): Omit<Finding, 'rule' | 'path'> | undefined {
  switch (certificate.type) {
    case 'unsupportedKind':
      return { value: display(certificate.kind), about: 'dialect', message: `Certificates are read from Secrets only, not from ${display(certificate.kind)}. Write kind: Secret and leave group out.` };
    case 'notPermitted':
      return {
        value: certificate.target,
        consequence: { condition: 'ResolvedRefs', reason: 'RefNotPermitted', scope: 'listener' },
        message: `Secret ${certificate.target} is in another namespace, where a ReferenceGrant must allow it, from kind ${fromKind} to kind Secret.`,
      };
    case 'absent':
      return { value: certificate.target, message: `Secret ${certificate.target} has not been seen. Check name and namespace, or create it with type kubernetes.io/tls.` };
    case 'unusable':
      return { value: certificate.target, message: `Secret ${certificate.target} holds no usable certificate: ${certificate.problem}.` };
    case 'usable':
    case 'unobserved':
      return undefined;
  }
}

export const listenerRules = [listenerConflict, listenerTlsOverlap, listenerProtocolUnsupported, listenerRouteKindsInvalid, listenerCertificateInvalid];
