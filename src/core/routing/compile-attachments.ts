import { attachments, type Attachment } from '../graph/attachment.ts';
import { isOwnerKind, servingGateway, type ListenerOwner } from '../graph/listeners/listener-sets.ts';
import type { Reader } from '../incremental/reader.ts';
import { fitted } from '../text/fitted.ts';
import type { RouteAttachment } from './config.ts';
import { configuredListener } from './listener-key.ts';

/** The listeners that a route is attached to, without duplicates: two parentRefs may select the same listener. */
export function compileAttachments(
  read: Reader,
  kind: string,
  namespace: string,
  name: string,
): readonly RouteAttachment[] {
  const attached = read
    .query(attachments, kind, namespace, name)
    .flatMap((attachment) => compileAttachment(read, attachment));
  return fitted([...new Map(attached.map((attachment) => [attachment.listener, attachment])).values()]);
}

function compileAttachment(read: Reader, { parent, outcome }: Attachment): readonly RouteAttachment[] {
  const { kind, namespace, name } = parent;
  if (outcome.type !== 'attached' || !isOwnerKind(kind)) return [];
  const owner: ListenerOwner = { kind, namespace, name };
  const gateway = servingGateway(read, owner);
  if (gateway === undefined) return [];
  return outcome.listeners.map(({ name: listener, hostnames }) => ({
    listener: configuredListener(gateway, owner, listener),
    hostnames,
  }));
}
