/** The controller: statuses, data planes and their configuration. It accesses the cluster through ports. */
export { Controller, type ControllerOptions } from './controller.ts';
export type { ClusterWriter, EventNote, EventSink, ObjectChange, WireObject, WriteResult } from './ports.ts';
export { ownObjectSelectors } from './own-object-selectors.ts';
export type { Replica } from './acknowledgement-reporter.ts';
export { dataPlaneUser, nodeOptionsOf, type DataPlaneSettings } from './data-plane-manifests.ts';
