/** The controller: statuses, data planes and their configuration. Talks to the cluster through ports. */
export { Controller, type ControllerOptions } from './controller.ts';
export type { ClusterWriter, ObjectChange, WireObject, WriteResult } from './ports.ts';
export { dataPlaneUser, type DataPlaneSettings } from './provision.ts';
