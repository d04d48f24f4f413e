import { maxListenersOfRoute } from '../../graph/attachment.ts';
import { quoteRef } from '../../resources/reference.ts';
import { attachmentRule } from './route-attachment.ts';

export const tooManyListeners = attachmentRule({
  id: 'too-many-listeners',
  outcome: 'tooManyListeners',
  summary: `The parentRefs of a route attach to more than ${maxListenersOfRoute} listeners.`,
  reason: 'UnsupportedValue',
  source:
    'Gateway API v1.7.0, ParentReference.sectionName ("this will reference the entire resource"; no limit is specified); RouteReasonUnsupportedValue',
  describe: ({ parent }, { count, attached }) => ({
    message: `Too many listeners: a route can attach to ${maxListenersOfRoute}, earlier parentRefs attach to ${attached}, and ${quoteRef(parent)} has ${count} more. Set sectionName or port, or use another route.`,
  }),
});
