import { managedBy } from './provision.ts';
import { reportLabel } from './reporter.ts';

/** Selectors of labels for objects that have to be followed although no evaluation reads them. */
export const ownObjects = {
  /** ConfigMaps in the controller's namespace. */
  reports: reportLabel,
  /** Of data planes, in all namespaces. */
  dataPlanes: `${managedBy.label}=${managedBy.value}`,
} as const;
