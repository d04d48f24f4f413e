import { quoteRef } from '../../resources/reference.ts';
import { display, displayed } from '../../text/display.ts';
import { attachmentRule } from './route-attachment.ts';

export const noMatchingParent = attachmentRule({
  id: 'no-matching-parent',
  outcome: 'noListener',
  summary: 'No listener of the parent has the sectionName and port of the parentRef.',
  reason: 'NoMatchingParent',
  source:
    'Gateway API v1.7.0, ParentReference.sectionName and .port; RouteReasonNoMatchingParent; GEP-1713, "Summary of Attachments"',
  describe(attachment, outcome) {
    const { sectionName, port } = attachment.parent;
    if (outcome.listeners.length === 0) {
      return {
        message: `${quoteRef(attachment.parent)} has no accepted listener to attach to. See its status, or use another parent.`,
      };
    }
    const requested = [
      sectionName === undefined ? '' : `name ${display(sectionName)}`,
      port === undefined ? '' : `port ${port}`,
    ]
      .filter((part) => part !== '')
      .join(' and ');
    return {
      value: requested,
      message: `Listener with ${requested} not found in ${quoteRef(attachment.parent)}. Use one of its listeners, or remove sectionName and port to attach to all of them. Listeners: ${displayed(outcome.listeners)}.`,
    };
  },
});
