import { between, since, until, versions } from '../availability.ts';
import { fieldDefaults } from '../field-defaults.ts';
import { integer, list, object } from '../node.ts';
import {
  conditionsDefaulting,
  groupDefaulting,
  kindDefaulting,
  name,
  namespace,
  port,
  waitingStatus,
} from './common.ts';
import { listener, listenerFields, listenerStatuses, listenerStatusFields } from './listener.ts';
import { experimentalTable, gatewayTable, stored } from './table.ts';

// Listeners that others add to a Gateway (GEP-1713): ListenerSet and its predecessor.

const parentRef = object(
  {
    group: groupDefaulting(fieldDefaults.parentRef.group),
    kind: kindDefaulting(fieldDefaults.parentRef.kind),
    name,
    namespace,
  },
  { required: ['name'] },
);
const conditions = conditionsDefaulting('Accepted', 'Programmed');
const waiting = { default: waitingStatus(['Accepted', 'Programmed'], 'Pending') } as const;
const byName = { maxItems: 64, listType: 'map', keys: ['name'] } as const;
const requiredSpec = { required: ['listeners', 'parentRef'] } as const;

const spec = object({ listeners: list(listener, { ...byName, minItems: 1 }), parentRef }, requiredSpec);
const status = object({ conditions, listeners: listenerStatuses }, waiting);

export const listenerSet = gatewayTable({
  kind: 'ListenerSet',
  plural: 'listenersets',
  namespaced: true,
  versions: [since('1.5', stored('v1'))],
  body: object({ spec, status }, { required: ['spec'] }),
});

/** Zero meant a port chosen by the implementation. */
const openPort = integer({
  format: 'int32',
  minimum: versions(1, since('1.4', 0)),
  maximum: 65_535,
  default: since('1.4', 0),
});
const xListener = object(
  { ...listenerFields, port: openPort },
  { required: ['name', until('1.4', 'port'), 'protocol'] },
);
const xListenerStatus = object(
  { ...listenerStatusFields, port },
  { required: ['attachedRoutes', 'conditions', 'name', 'port', 'supportedKinds'] },
);
const xSpec = object({ listeners: list(xListener, { ...byName, minItems: 1 }), parentRef }, requiredSpec);
const xStatus = object({ conditions, listeners: list(xListenerStatus, byName) }, waiting);

export const xListenerSet = experimentalTable({
  kind: 'XListenerSet',
  plural: 'xlistenersets',
  namespaced: true,
  versions: [between({ experimental: '1.3' }, '1.5', stored('v1alpha1'))],
  body: object({ spec: xSpec, status: xStatus }, { required: ['spec'] }),
  instead: since('1.5', 'ListenerSet of gateway.networking.k8s.io/v1'),
});
