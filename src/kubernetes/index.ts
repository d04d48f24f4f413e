/** The Kubernetes API: client, reflectors, writes, leases, events. Only this folder imports the official client. */
export { Backoff } from './backoff.ts';
export { createClient, type ApiClient, type ApiRequest } from './client.ts';
export type { Credentials, Proof } from './credentials.ts';
export { loadCredentials, type CredentialSource } from './load-credentials.ts';
export {
  customResourceDefinitions,
  preferredVersion,
  readInstalledKind,
  type InstalledKind,
  type InstalledVersion,
} from './custom-resource-definition.ts';
export { Discovery, type DiscoveryOptions, type FollowedKind, type KindState } from './discovery.ts';
export { ApiError, isForbidden, isNotFound, unlessNotFound, type Cause } from './errors.ts';
export { EventRecorder, type EventNote, type RecorderOptions, type Regarding } from './events.ts';
export { Election, type ElectionOptions, type LeaseTimings } from './lease.ts';
export { listPages, type Selection } from './list.ts';
export { doneOrConflict } from './outcome.ts';
export {
  isKubernetesObject,
  pathOf,
  resourceType,
  type KubernetesObject,
  type ObjectMetadata,
  type ObjectName,
  type ResourceType,
} from './object.ts';
export { ReadingPace } from './reading-pace.ts';
export { Reflector, type ObjectEvent, type OnEvents, type ReflectorOptions } from './reflector.ts';
export { readServedKind, servedKind } from './served-kind.ts';
export {
  applyForced,
  create,
  get,
  mergePatch,
  remove,
  update,
  updateStatus,
  type ApplyOptions,
  type DeleteOptions,
  type PatchTarget,
  type WriteOptions,
  type WriteOutcome,
  type Writer,
} from './writers.ts';
