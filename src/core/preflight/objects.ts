import { formatPath } from '../resources/path.ts';
import { describeRef } from '../resources/reference.ts';
import { judgeByBundle } from '../rules/engine/judge-by-bundle.ts';
import type { Finding } from '../rules/engine/rule.ts';
import { examine, type Bundle, type FieldPath, type StructureProblem, type WrittenObject } from '../schema/index.ts';
import type { PreflightCheck, PreflightFinding, PreflightSeverity } from './finding.ts';
import { asServedBy, editCommand, showCommand, type StoredObject, type Target } from './target.ts';

/** A rejection by a bundle, or a field that it prunes. */
interface Refusal {
  readonly check: Extract<PreflightCheck, 'lost-protection' | 'rejected-objects' | 'pruned-fields'>;
  readonly path: FieldPath;
  readonly message: string;
}

/**
 * Finds stored objects that the CRDs of a target reject, and fields that they prune. The API server prunes a field as soon as
 * the CRDs are installed. It rejects an object on its next write.
 *
 * @param installed the current bundle of the object's kind. A rejection by that bundle, too, is only a warning.
 */
export function judgeObjects(
  objects: readonly StoredObject[],
  target: Target,
  installed: (object: StoredObject) => Bundle | undefined,
): readonly PreflightFinding[] {
  return objects.flatMap((object) => {
    const refusals = refusalsOf(object, target.bundle);
    if (refusals.length === 0) return [];
    const bundle = installed(object);
    const before = new Set(
      bundle === undefined ? [] : refusalsOf(object, bundle).map(({ check, path }) => `${check} ${formatPath(path)}`),
    );
    return refusals.map((refusal) =>
      findingOf(object, refusal, before.has(`${refusal.check} ${formatPath(refusal.path)}`)),
    );
  });
}

function refusalsOf({ kind, json }: StoredObject, bundle: Bundle): readonly Refusal[] {
  const served = asServedBy(kind, json, bundle);
  if (served === undefined) return [];
  const written: WrittenObject = { kind, apiVersion: String(served['apiVersion']), json: served };
  const examination = examine(written, bundle);
  const { official } = judgeByBundle(written, examination, bundle);
  const seen = new Set<string>();
  return [...examination.problems.map(ofStructure), ...official.map(ofRule)].filter(({ check, path }) => {
    const place = `${check} ${formatPath(path)}`;
    return !seen.has(place) && seen.add(place);
  });
}

function ofStructure({ path, message, keyword, lost }: StructureProblem): Refusal {
  if (keyword !== 'unknown') return { check: 'rejected-objects', path, message };
  return { check: lost === undefined ? 'pruned-fields' : 'lost-protection', path, message };
}

function ofRule({ path, message }: Finding): Refusal {
  return { check: 'rejected-objects', path, message };
}

const rejectedStatus = 'The controller has to write the status again.';
const droppedStatus = 'The controller writes the status: no action is required.';

function findingOf(object: StoredObject, { check, path, message }: Refusal, isOld: boolean): PreflightFinding {
  const isStatus = path[0] === 'status';
  const also = isOld ? ' The installed bundle rejects it, too.' : '';
  const writer = isStatus ? ` ${check === 'rejected-objects' ? rejectedStatus : droppedStatus}` : '';
  const field = formatPath(path);
  return {
    check,
    severity: severityOf(check, { isStatus, isOld }),
    subject: describeRef(object.ref),
    ...(field === '' ? {} : { field }),
    message: `${message}${also}${writer}`,
    // Only the controller writes the status.
    commands: [isStatus ? showCommand(object) : editCommand(object)],
  };
}

function severityOf(
  check: Refusal['check'],
  { isStatus, isOld }: { readonly isStatus: boolean; readonly isOld: boolean },
): PreflightSeverity {
  if (check === 'lost-protection') return 'blocker';
  if (isStatus) return check === 'rejected-objects' ? 'warning' : 'note';
  return check === 'rejected-objects' && !isOld ? 'blocker' : 'warning';
}
