import { reportLabel } from './acknowledgement-reporter.ts';
import { managedBy } from './data-plane-manifests.ts';

/** Label selectors for objects that the controller follows although the evaluation does not read them. */
export const ownObjectSelectors = {
  /** ConfigMaps in the controller's namespace. */
  reports: reportLabel,
  /** Objects of data planes, in all namespaces. */
  dataPlanes: `${managedBy.label}=${managedBy.value}`,
} as const;
