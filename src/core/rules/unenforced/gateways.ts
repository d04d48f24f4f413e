import type { SchemaKind } from '../../schema/index.ts';
import { hostnameIsIp, hostnameLabelTooLong } from '../hostnames.ts';
import { merge, type Sites, type SiteTables } from '../official/sites.ts';
import { wherever } from './meanings.ts';

function hostnamesIn(kind: SchemaKind): Sites {
  return merge(wherever(kind, ['hostname'], hostnameIsIp), wherever(kind, ['hostname'], hostnameLabelTooLong));
}

export const unenforcedGatewayTables: SiteTables = {
  Gateway: [{ sites: hostnamesIn('Gateway') }],
  ListenerSet: [{ sites: hostnamesIn('ListenerSet') }],
  XListenerSet: [{ sites: hostnamesIn('XListenerSet') }],
};
