import { defineQuery } from '../incremental/index.ts';
import { attachments } from './attachment.ts';
import { gatewayClassNode } from './gateway.ts';
import { isOwnerKind, ownerStanding } from './listener-sets.ts';
import { strata } from './strata.ts';

/** Whether everything that the object attaches to is ours to serve: then nobody else reads it in another way. */
export const isOurs = defineQuery({
  name: 'isOurs',
  stratum: strata.links,
  compute(read, kind: string, namespace: string, name: string): boolean {
    if (kind === 'GatewayClass') return read.query(gatewayClassNode, name).ours;
    if (isOwnerKind(kind)) {
      const standing = ownerStanding(read, { kind, namespace, name });
      return standing === 'ours' || standing === 'detached';
    }
    const all = read.query(attachments, kind, namespace, name);
    return all.length > 0 && all.every(({ outcome }) => outcome.type !== 'foreign' && outcome.type !== 'absent');
  },
});
