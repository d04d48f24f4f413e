import { since } from '../availability.ts';
import { list, object } from '../node.ts';
import { atomic, controllerName, localObjectReference, parentReference, someConditions } from './common.ts';

// Building blocks common to all policy kinds (GEP-713).

/** Distinct targets. */
export const distinctTargetRefs = list(localObjectReference, {
  minItems: 1,
  maxItems: 16,
  listType: 'map',
  keys: ['group', 'kind', 'name'],
});

/** The status of a policy: one entry per controller and affected Gateway. */
export const policyStatus = object(
  {
    ancestors: list(
      object(
        { ancestorRef: parentReference, conditions: someConditions, controllerName },
        { required: ['ancestorRef', since('1.4', 'conditions'), 'controllerName'] },
      ),
      { maxItems: 16, listType: atomic },
    ),
  },
  { required: ['ancestors'] },
);
