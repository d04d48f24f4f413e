import { installationCell, readObject } from '../graph/inputs.ts';
import type { Reader } from '../incremental/reader.ts';
import { partProblems } from '../rules/validity.ts';
import { isSupportedBundle, supportedBundles } from '../schema/index.ts';
import { conditionsAt, isFalse, isTrue, type Condition } from './conditions.ts';
import { supportedFeatures, type SupportedFeatures } from './supported-features.ts';

export interface GatewayClassStatus {
  readonly conditions: readonly Condition[];
  /** Absent where the installed bundle has no place for it. */
  readonly supportedFeatures?: SupportedFeatures;
}

/** The status of a GatewayClass with our controllerName, `undefined` for all others (GatewayClassStatus). */
export function gatewayClassStatus(read: Reader, name: string): GatewayClassStatus | undefined {
  const gatewayClass = readObject(read, 'GatewayClass', '', name);
  const installation = read.input(installationCell);
  if (gatewayClass === undefined || installation === undefined || gatewayClass.spec?.controllerName !== installation.controllerName) return undefined;
  const features = supportedFeatures(installation.bundles);
  const problem = read.query(partProblems, 'GatewayClass', '', name).find((one) => one.condition === 'Accepted');
  return {
    conditions: conditionsAt('gatewayClass', gatewayClass.meta.generation, {
      Accepted: problem === undefined ? isTrue('Accepted') : isFalse(problem.reason, problem.message),
      SupportedVersion: isSupportedBundle(installation.bundleVersion)
        ? isTrue('SupportedVersion')
        : isFalse('UnsupportedVersion', `The installed Gateway API bundle is ${installation.bundleVersion}; supported are ${supportedBundles.join(', ')}. Objects are served as far as they can be understood.`),
    }),
    ...(features === undefined ? {} : { supportedFeatures: features }),
  };
}
