import { since } from '../availability.ts';
import { list, object } from '../node.ts';
import { atomic, controllerName, localObjectReference, parentReference, someConditions } from './common.ts';

// What policies of every kind have in common (GEP-713).

/** Targets of which none occurs twice. */
export const distinctTargetRefs = list(
  localObjectReference,
  { minItems: 1, maxItems: 16, listType: 'map', keys: ['group', 'kind', 'name'] },
);

/** Who wrote the status of a policy for which Gateway it has an effect on. */
export const policyStatus = object({
  ancestors: list(object(
    { ancestorRef: parentReference, conditions: someConditions, controllerName },
    { required: ['ancestorRef', since('1.4', 'conditions'), 'controllerName'] },
  ), { maxItems: 16, listType: atomic }),
}, { required: ['ancestors'] });
