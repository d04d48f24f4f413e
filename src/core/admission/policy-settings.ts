import { objectCell, policySettingsCell } from '../graph/inputs.ts';
import { write, type Write } from '../incremental/index.ts';
import type { Path } from '../resources/path.ts';
import type { Resource } from '../resources/resource.ts';
import { tables, type Bundle } from '../schema/index.ts';
import { recordOf } from '../text/record.ts';
import { selectorProblems } from '../text/selector.ts';
import { readDocument } from './candidate.ts';

// HostnamePolicies in the settings: the same fields, the same schema and the same evaluation as those of the cluster.

/** A HostnamePolicy of the settings. */
export interface PolicySettings {
  readonly name: string;
  readonly policy: Resource<'HostnamePolicy'>;
}

/** The fields of a policy in the settings: its name, and those of `spec` of a HostnamePolicy. */
export const policyFields = ['name', 'hostnames', 'paths', 'namespaces', 'gateways'] as const;

const apiVersion = `${tables.HostnamePolicy.group}/v1alpha1`;
/** The schema is the same in all bundles. */
const bundle: Bundle = { minor: '1.7', channel: 'standard' };

/**
 * Reads a HostnamePolicy of the settings.
 *
 * @param name its name, which is valid
 * @param spec the other fields
 * @param report called with each problem, and its path in `spec`
 * @returns the policy; `undefined` if it has problems
 */
export function readPolicySettings(
  name: string,
  spec: Readonly<Record<string, unknown>>,
  report: (path: Path, message: string) => void,
): PolicySettings | undefined {
  const read = readDocument({ apiVersion, kind: 'HostnamePolicy', metadata: { name }, spec }, bundle);
  if (read.type !== 'candidate') return undefined;
  const { examination, resource } = read.candidate;
  const selector = recordOf(spec['namespaces'])['selector'];
  const problems = [
    ...examination.problems.map(({ path, message, advice }) => ({
      path: path.slice(1),
      // The whole settings file is invalid. The API server would only drop the field.
      message: advice === undefined ? message : `unknown setting. ${advice}`,
    })),
    ...(examination.problems.length > 0 || selector === undefined ? [] : selectorProblems(selector)).map(
      ({ path, message }) => ({ path: ['namespaces', 'selector', ...path], message }),
    ),
  ];
  for (const { path, message } of problems) report(path, message);
  return problems.length > 0 || resource.kind !== 'HostnamePolicy' ? undefined : { name, policy: resource };
}

/** The writes that replace the policies of the former settings by those of the new settings. */
export function policySettingsWrites(
  before: readonly PolicySettings[],
  after: readonly PolicySettings[],
): readonly Write[] {
  return [
    write(policySettingsCell, [], after.length === 0 ? undefined : true),
    ...before.map(({ name }) => policyWrite(name, undefined)),
    ...after.map(({ name, policy }) => policyWrite(name, policy)),
  ];
}

/** No object can have this name, and messages that contain it tell where the policy is. */
function policyWrite(name: string, policy: Resource<'HostnamePolicy'> | undefined): Write {
  return write(objectCell, ['HostnamePolicy', '', `${name} (settings)`], policy);
}
