import type { AdmissionPolicy } from '../core/admission/policy.ts';
import type { Installation } from '../core/graph/inputs.ts';
import { configuration } from '../core/routing/emit.ts';
import { statuses } from '../core/status/emit.ts';
import { formatProblem, type FileProblem, type SourceDocument } from '../files/document.ts';
import { Workspace } from '../workspace/workspace.ts';
import { UsageError } from './usage-error.ts';

/** Objects and the settings of their evaluation. */
export interface Evaluated {
  readonly documents: readonly SourceDocument[];
  readonly installation: Installation;
  readonly policy: AdmissionPolicy;
}

/** The statuses and the data plane configuration that result from the objects. */
export function snapshotOf({ documents, installation, policy }: Evaluated) {
  const { kernel } = followed(installation, policy, documents);
  return emittedBy(kernel);
}

/** A workspace of the objects that follows statuses and configuration. */
export function followed(
  installation: Installation,
  policy: AdmissionPolicy,
  documents: readonly SourceDocument[],
): Workspace {
  const workspace = new Workspace(installation, policy, [configuration, statuses]);
  workspace.update(documents);
  return workspace;
}

/** The current results of a workspace. */
export function emittedBy(kernel: Workspace['kernel']) {
  return { configuration: new Map(kernel.emitted(configuration)), statuses: new Map(kernel.emitted(statuses)) };
}

/** Rejects an incomplete set of objects, which would give wrong results. @throws UsageError for files that cannot be read */
export function rejectProblems(problems: readonly FileProblem[]): void {
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw new UsageError(errors.map(formatProblem).join('\n'));
}
