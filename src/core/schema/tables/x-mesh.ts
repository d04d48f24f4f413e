import { experimental } from '../availability.ts';
import { object } from '../node.ts';
import { conditionsDefaulting, waitingStatus } from './common.ts';
import { controllerSpec, featureList } from './gateway-class.ts';
import { experimentalTable, stored } from './table.ts';

const status = object(
  { conditions: conditionsDefaulting('Accepted', 'Programmed'), supportedFeatures: featureList },
  // The default of the whole contains only one of the two conditions.
  { default: waitingStatus(['Accepted'], 'Pending') },
);

/** A mesh without Gateways (GEP-3949). */
export const xMesh = experimentalTable({
  kind: 'XMesh',
  plural: 'xmeshes',
  namespaced: false,
  versions: [experimental('1.4', stored('v1alpha1'))],
  body: object({ spec: controllerSpec, status }, { required: ['spec'] }),
});
