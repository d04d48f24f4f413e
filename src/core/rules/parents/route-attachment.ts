import { attachments, type Attachment, type AttachmentOutcome } from '../../graph/attachment.ts';
import { servedRouteKinds, type ServedRouteKind } from '../../graph/protocols.ts';
import type { Reader } from '../../incremental/reader.ts';
import { describeRef } from '../../resources/reference.ts';
import type { Resource } from '../../resources/resource.ts';
import { warned } from '../engine/effects.ts';
import { rule, type Finding } from '../engine/rule.ts';

// Another object, applied a second later, may cure each of these: admission warns, status tells.

type OutcomeOf<T extends AttachmentOutcome['type']> = Extract<AttachmentOutcome, { type: T }>;

/** Declares the rule for one way in which a parentRef fails to attach. */
function attachmentRule<const T extends AttachmentOutcome['type']>(declaration: {
  readonly id: string;
  readonly outcome: T;
  readonly summary: string;
  readonly reason?: string;
  readonly source: string;
  readonly describe: (attachment: Attachment, outcome: OutcomeOf<T>, route: Resource<ServedRouteKind>) => Pick<Finding, 'message' | 'value'>;
}) {
  const { id, outcome: type, summary, reason, source, describe } = declaration;
  return rule({
    id,
    kinds: servedRouteKinds,
    summary,
    effect: warned,
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

export const parentNotFound = attachmentRule({
  id: 'parent-not-found',
  outcome: 'absent',
  summary: 'A parentRef names a Gateway or ListenerSet that does not exist.',
  source: 'Gateway API v1.7.0, ParentReference',
  describe: (attachment) => ({
    value: `${attachment.parent.namespace}/${attachment.parent.name}`,
    message: `${describeRef(attachment.parent)} has not been seen. Check name and namespace, or apply it; until then this parentRef attaches to nothing.`,
  }),
});

export const noMatchingParent = attachmentRule({
  id: 'no-matching-parent',
  outcome: 'noListener',
  summary: 'No listener of the parent has the sectionName and port that the parentRef asks for.',
  reason: 'NoMatchingParent',
  source: 'Gateway API v1.7.0, ParentReference.sectionName and .port; RouteReasonNoMatchingParent; GEP-1713, "Summary of Attachments"',
  describe(attachment, outcome) {
    const { sectionName, port } = attachment.parent;
    if (outcome.listeners.length === 0) {
      return { message: `${describeRef(attachment.parent)} has no listener that is served, so there is nothing to attach to. See its status, or name another parent.` };
    }
    const asked = [sectionName === undefined ? '' : `name ${sectionName}`, port === undefined ? '' : `port ${port}`].filter((part) => part !== '').join(' and ');
    return { value: asked, message: `${describeRef(attachment.parent)} has no listener with ${asked}. Name another, or leave sectionName and port out to attach to all. Its listeners are ${outcome.listeners.join(', ')}.` };
  },
});

export const notAllowedByListeners = attachmentRule({
  id: 'not-allowed-by-listeners',
  outcome: 'notAllowed',
  summary: 'No listener that the parentRef addresses allows routes of this kind or namespace.',
  reason: 'NotAllowedByListeners',
  source: 'Gateway API v1.7.0, AllowedRoutes; RouteReasonNotAllowedByListeners',
  describe(attachment, outcome, route) {
    const [value, refused, cure] =
      outcome.by === 'kind'
        ? [route.kind, `routes of kind ${route.kind}`, "Add it to a listener's allowedRoutes.kinds, or attach where the protocol carries it."]
        : [route.ref.namespace, `routes from the namespace ${route.ref.namespace}`, 'Its owner can admit them in allowedRoutes.namespaces (from: All, or a Selector that matches).'];
    return { value, message: `${describeRef(attachment.parent)} allows no ${refused}. ${cure} Asked: listener${outcome.listeners.length === 1 ? '' : 's'} ${outcome.listeners.join(', ')}.` };
  },
});

export const noMatchingListenerHostname = attachmentRule({
  id: 'no-matching-listener-hostname',
  outcome: 'noHostname',
  summary: "None of the route's hostnames intersects a hostname of the listeners.",
  reason: 'NoMatchingListenerHostname',
  source: 'Gateway API v1.7.0, HTTPRouteSpec.hostnames; RouteReasonNoMatchingListenerHostname',
  describe(attachment, outcome, route) {
    const own = route.spec?.hostnames?.join(', ') ?? '';
    const listeners = outcome.listeners.map((listener) => `${listener.name} (${listener.hostname})`).join(', ');
    return { value: own, message: `No listener of ${describeRef(attachment.parent)} covers a hostname of this route. Use a hostname that one covers, or attach elsewhere. Listeners: ${listeners}; hostnames: ${own}.` };
  },
});

export const attachmentRules = [parentNotFound, noMatchingParent, notAllowedByListeners, noMatchingListenerHostname];
