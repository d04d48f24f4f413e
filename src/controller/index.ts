/** The controller: statuses, data planes and their configuration. Talks to the cluster through ports. */
export { Controller, type ControllerOptions } from './controller.ts';
export type { ClusterWriter, EventNote, EventSink, ObjectChange, WireObject, WriteResult } from './ports.ts';
export { ownObjects } from './own-objects.ts';
export type { Replica } from './reporter.ts';
export { dataPlaneUser, type DataPlaneSettings } from './provision.ts';
