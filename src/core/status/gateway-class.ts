import { installationCell, readObject, type IncompleteBundle, type Installation } from '../graph/inputs.ts';
import type { Reader } from '../incremental/reader.ts';
import { partProblems } from '../rules/engine/validity.ts';
import { isSupportedBundle, supportedBundles } from '../schema/index.ts';
import { display } from '../text/display.ts';
import { conditionsAt, isFalse, isTrue, joinMessages, type Condition, type Outcome } from './conditions.ts';
import { supportedFeatures, type SupportedFeatures } from './supported-features.ts';

export interface GatewayClassStatus {
  readonly conditions: readonly Condition[];
  /** Absent if the installed bundle does not have the field. */
  readonly supportedFeatures?: SupportedFeatures;
}

/** The status of a GatewayClass with our controllerName, `undefined` for all others (GatewayClassStatus). */
export function gatewayClassStatus(read: Reader, name: string): GatewayClassStatus | undefined {
  const gatewayClass = readObject(read, 'GatewayClass', '', name);
  const installation = read.input(installationCell);
  if (
    gatewayClass === undefined ||
    installation === undefined ||
    gatewayClass.spec?.controllerName !== installation.controllerName
  )
    return undefined;
  const features = supportedFeatures(installation);
  const problem = read.query(partProblems, 'GatewayClass', '', name).find((one) => one.condition === 'Accepted');
  return {
    conditions: conditionsAt('gatewayClass', gatewayClass.meta.generation, {
      Accepted: problem === undefined ? isTrue('Accepted') : isFalse(problem.reason, problem.message),
      SupportedVersion: supportedVersion(installation),
    }),
    ...(features === undefined ? {} : { supportedFeatures: features }),
  };
}

/** Whether all CRDs of both Gateway API groups belong to a supported bundle: possibly only some of them were upgraded. */
function supportedVersion({ bundleVersions, incomplete }: Installation): Outcome {
  const others = Object.entries(bundleVersions).filter(([, version]) => !isSupportedBundle(version));
  // An incomplete bundle has a supported version nevertheless: the condition is about versions.
  if (others.length === 0) return isTrue('SupportedVersion', incomplete && remarkOn(incomplete));
  const found = others.map(
    ([kind, version]) =>
      `The CRD of ${kind} has ${version === '' ? 'no bundle version annotation' : `bundle version ${display(version)}`}.`,
  );
  return isFalse(
    'UnsupportedVersion',
    `${joinMessages(found)} Supported versions: ${supportedBundles.join(', ')}. Sallyport serves objects on a best-effort basis.`,
  );
}

function remarkOn({ bundle, absent }: IncompleteBundle): string {
  return `The bundle ${bundle} is incomplete. CRDs not found: ${absent.join(', ')}. Objects of these kinds cannot be stored. Install the complete bundle.`;
}
