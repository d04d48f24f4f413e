import { describeRef } from '../../resources/reference.ts';
import { attachmentRule } from './route-attachment.ts';

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
