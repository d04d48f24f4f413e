import { defineQuery } from '../../incremental/index.ts';
import { readObject } from '../inputs.ts';
import type { ServiceKind } from './backend-object.ts';
import { strata } from '../strata.ts';

/** Whether a Service or ServiceImport has session affinity by client address. It has no effect on an imported headless Service. */
export const hasSessionAffinity = defineQuery({
  name: 'hasSessionAffinity',
  stratum: strata.links,
  compute(read, kind: ServiceKind, namespace: string, name: string): boolean {
    const spec = readObject(read, kind, namespace, name)?.spec;
    if (kind === 'ServiceImport' && spec?.type === 'Headless') return false;
    return spec?.sessionAffinity === 'ClientIP';
  },
});
