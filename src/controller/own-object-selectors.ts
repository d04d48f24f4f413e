import { reportLabel } from './acknowledgement-reporter.ts';
import { managedBy } from './data-plane-manifests.ts';

/** Selectors of labels for objects that have to be followed although no evaluation reads them. */
export const ownObjectSelectors = {
  /** ConfigMaps in the controller's namespace. */
  reports: reportLabel,
  /** Of data planes, in all namespaces. */
  dataPlanes: `${managedBy.label}=${managedBy.value}`,
} as const;
