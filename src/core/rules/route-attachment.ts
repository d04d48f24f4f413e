import { attachments, type Attachment, type AttachmentOutcome } from '../graph/attachment.ts';
import { servedRouteKinds } from '../graph/protocols.ts';
import type { Reader } from '../incremental/reader.ts';
import type { Resource } from '../resources/resource.ts';
import { rule, type Effect, type Finding, type Profile } from './rule.ts';

/** Another object, applied a second later, may cure each of these: admission warns, status tells. */
const curable: Readonly<Record<Profile, Effect>> = { audit: 'record', standard: 'warn', strict: 'warn' };

type OutcomeOf<T extends AttachmentOutcome['type']> = Extract<AttachmentOutcome, { type: T }>;

/** Declares the rule for one way in which a parentRef fails to attach. */
function attachmentRule<const T extends AttachmentOutcome['type']>(declaration: {
  readonly id: string;
  readonly outcome: T;
  readonly summary: string;
  readonly reason?: string;
  readonly source: string;
  readonly describe: (attachment: Attachment, outcome: OutcomeOf<T>, route: Resource) => Pick<Finding, 'message' | 'value'>;
}) {
  const { id, outcome: type, summary, reason, source, describe } = declaration;
  return rule({
    id,
    kinds: servedRouteKinds,
    summary,
    effect: curable,
    ...(reason === undefined ? {} : { consequence: { condition: 'Accepted', reason, scope: 'parentRef' as const } }),
    source,
    check(route, read: Reader, report) {
      for (const attachment of read.query(attachments, route.kind, route.ref.namespace, route.ref.name)) {
        if (attachment.outcome.type !== type) continue;
        report({ path: ['spec', 'parentRefs', attachment.index], ...describe(attachment, attachment.outcome as OutcomeOf<T>, route) });
      }
    },
  });
}

function gatewayName({ parent }: Attachment): string {
  return `Gateway ${parent.namespace}/${parent.name}`;
}

export const parentNotFound = attachmentRule({
  id: 'parent-not-found',
  outcome: 'absent',
  summary: 'A parentRef names a Gateway that does not exist.',
  source: 'Gateway API v1.7.0, ParentReference',
  describe: (attachment) => ({
    value: `${attachment.parent.namespace}/${attachment.parent.name}`,
    message: `${gatewayName(attachment)} has not been seen; until it exists, this parentRef attaches to nothing. Check name and namespace, or apply the Gateway.`,
  }),
});

export const noMatchingParent = attachmentRule({
  id: 'no-matching-parent',
  outcome: 'noListener',
  summary: 'No listener of the parent has the sectionName and port that the parentRef asks for.',
  reason: 'NoMatchingParent',
  source: 'Gateway API v1.7.0, ParentReference.sectionName and .port; RouteReasonNoMatchingParent',
  describe(attachment, outcome) {
    const { sectionName, port } = attachment.parent;
    const asked = [sectionName === undefined ? '' : `name ${sectionName}`, port === undefined ? '' : `port ${port}`].filter((part) => part !== '').join(' and ');
    const present = outcome.listeners.length === 0 ? 'it has no listeners' : `its listeners are ${outcome.listeners.join(', ')}`;
    return { value: asked, message: `${gatewayName(attachment)} has no listener with ${asked}; ${present}. Name one of them, or leave sectionName and port out to attach to all.` };
  },
});

export const notAllowedByListeners = attachmentRule({
  id: 'not-allowed-by-listeners',
  outcome: 'notAllowed',
  summary: 'No listener that the parentRef addresses allows routes of this kind or namespace.',
  reason: 'NotAllowedByListeners',
  source: 'Gateway API v1.7.0, AllowedRoutes; RouteReasonNotAllowedByListeners',
  describe(attachment, outcome, route) {
    const listeners = `listener${outcome.listeners.length === 1 ? '' : 's'} ${outcome.listeners.join(', ')} of ${gatewayName(attachment)}`;
    const cure =
      outcome.by === 'kind'
        ? `Add kind ${route.kind} to the listener's allowedRoutes.kinds, or attach to a listener whose protocol carries ${route.kind}.`
        : `Ask the Gateway's owner to admit the namespace ${route.ref.namespace} in the listener's allowedRoutes.namespaces (from: All, or a Selector that matches it).`;
    const refused = outcome.by === 'kind' ? `routes of kind ${route.kind}` : `routes from the namespace ${route.ref.namespace}`;
    return { value: outcome.by === 'kind' ? route.kind : route.ref.namespace, message: `The ${listeners} do${outcome.listeners.length === 1 ? 'es' : ''} not allow ${refused}. ${cure}` };
  },
});

export const noMatchingListenerHostname = attachmentRule({
  id: 'no-matching-listener-hostname',
  outcome: 'noHostname',
  summary: "None of the route's hostnames intersects a hostname of the listeners.",
  reason: 'NoMatchingListenerHostname',
  source: 'Gateway API v1.7.0, HTTPRouteSpec.hostnames; RouteReasonNoMatchingListenerHostname',
  describe(attachment, outcome, route) {
    const own = (route as Resource<'HTTPRoute'>).spec?.hostnames?.join(', ') ?? '';
    const listeners = outcome.listeners.map((listener) => `${listener.name} (${listener.hostname})`).join(', ');
    return { value: own, message: `The route's hostnames ${own} match no listener of ${gatewayName(attachment)}: ${listeners}. Use a hostname that such a listener covers, or attach to another listener.` };
  },
});

export const attachmentRules = [parentNotFound, noMatchingParent, notAllowedByListeners, noMatchingListenerHostname];
