import { backendPolicyKinds, targetedBackend, targetsOf } from '../../graph/backends/backend-policies.ts';
import { portNames } from '../../graph/backends/backends.ts';
import { isObserved } from '../../graph/observed.ts';
import { quoteRef } from '../../resources/reference.ts';
import { display, maxShown, quote, someOf } from '../../text/display.ts';
import { warned } from '../engine/effects.ts';
import { rule } from '../engine/rule.ts';

export const backendPolicyTargetMissing = rule({
  id: 'backend-policy-target-missing',
  kinds: backendPolicyKinds,
  summary: 'A policy targets a Service or ServiceImport, or a port of one, that does not exist.',
  effect: warned,
  consequence: { condition: 'Accepted', reason: 'TargetNotFound', scope: 'target' },
  source: 'Gateway API v1.7.0, LocalPolicyTargetReferenceWithSectionName; PolicyReasonTargetNotFound',
  check({ kind: policyKind, ref }, read, report) {
    const { namespace } = ref;
    for (const [index, target] of targetsOf(read, policyKind, namespace, ref.name).entries()) {
      const backend = targetedBackend(target, namespace);
      if (backend === undefined) continue;
      const { kind, name } = backend;
      const { sectionName } = target;
      const names = read.query(portNames, kind, namespace, name);
      const path = ['spec', 'targetRefs', index];
      if (names === undefined) {
        if (isObserved(read, kind, namespace))
          report({
            path: [...path, 'name'],
            value: display(name),
            message: `${quoteRef(backend)} not found. Check the name, or create it. A policy can target only ${kind}s in its own namespace.`,
          });
      } else if (sectionName !== undefined && !names.has(sectionName)) {
        const some = someOf([...names.values().take(maxShown)], String, names.size);
        report({
          path: [...path, 'sectionName'],
          value: display(sectionName),
          message: `Port ${quote(sectionName)} not found in ${quoteRef(backend)}; ${names.size === 0 ? 'its ports have no names' : `its ports are ${some}`}. Use one of them, or remove sectionName.`,
        });
      }
    }
  },
});
