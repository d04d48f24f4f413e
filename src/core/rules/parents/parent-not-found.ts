import { qualifiedName, quoteRef } from '../../resources/reference.ts';
import { attachmentRule } from './route-attachment.ts';

export const parentNotFound = attachmentRule({
  id: 'parent-not-found',
  outcome: 'absent',
  summary: 'A parentRef names a Gateway or ListenerSet that does not exist.',
  source: 'Gateway API v1.7.0, ParentReference',
  describe: (attachment) => ({
    value: qualifiedName(attachment.parent),
    message: `${quoteRef(attachment.parent)} not found. Check its name and namespace, or create it. Until then, the route is not attached to it.`,
  }),
});
