import { admissionKinds, installationIn } from '../../src/cluster/cluster-state.ts';
import { objectWrites } from '../../src/cluster/object-writes.ts';
import { findingCounts } from '../../src/core/admission/impact.ts';
import { createEvaluation } from '../../src/core/evaluation.ts';
import { installationCell } from '../../src/core/graph/inputs.ts';
import { write, type Kernel } from '../../src/core/incremental/index.ts';
import { installation, ourClass } from './evaluation.ts';

/** An object as the API server sends it. */
export interface Described {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

/** An evaluation as the webhook has it, with a class of ours: without Secrets, ConfigMaps and EndpointSlices. */
export function webhookKernel(...objects: readonly Described[]): Kernel {
  const kernel = createEvaluation([findingCounts]);
  const observed = installationIn(new Map(), admissionKinds, installation.controllerName);
  const { bundles, bundleVersions } = installation;
  kernel.apply([
    write(installationCell, [], { ...observed, bundles, bundleVersions }),
    ...[ourClass as Described, ...objects].flatMap((json) =>
      objectWrites({ kind: json.kind, namespace: json.metadata.namespace ?? '', name: json.metadata.name }, json),
    ),
  ]);
  return kernel;
}
