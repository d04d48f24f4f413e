import type { EndpointsConfig, ListenerConfig } from '../core/routing/config.ts';
import type { Steps } from '../core/text/steps.ts';
import { fingerprintInSteps, fingerprintOf, type Fingerprint } from './digest.ts';
import type { ChannelResource, Digest, ToController, ToProxy, Transaction } from './messages.ts';

// Many endpoints and listeners trust the same CA certificates. Those of one object are one list, which is read, counted and sent once.

/** In the hello of a proxy that takes each list of CA certificates once (`compact`). */
const takesBundles = 'bundles';

/** Adds to a hello that this end takes each list of CA certificates once. Other messages stay as they are. */
export function announceBundles(message: ToController): ToController {
  return message.type === 'hello'
    ? { ...message, capabilities: [...(message.capabilities ?? []), takesBundles] }
    : message;
}

/** Whether the other end takes each list of CA certificates once, according to its hello. */
export function hasAnnouncedBundles(message: ToController): boolean {
  return message.type === 'hello' && message.capabilities?.includes(takesBundles) === true;
}

/** The CA certificates of a resource; `undefined` if it has none. */
function authoritiesOf(resource: ChannelResource): readonly string[] | undefined {
  if (resource.kind !== 'endpoints' && resource.kind !== 'listener') return undefined;
  const { authorities = 'system' } = (resource.kind === 'endpoints' ? resource.tls : resource.clientValidation) ?? {};
  return authorities === 'system' || authorities.length === 0 ? undefined : authorities;
}

/** Returns a resource that has CA certificates with others in their place. */
function replaced(resource: ChannelResource, authorities: readonly string[]): ChannelResource {
  if (resource.kind === 'endpoints') return endpointsWith(resource, authorities);
  return resource.kind === 'listener' ? listenerWith(resource, authorities) : resource;
}

function endpointsWith(endpoints: EndpointsConfig, authorities: readonly string[]): EndpointsConfig {
  return endpoints.tls === undefined ? endpoints : { ...endpoints, tls: { ...endpoints.tls, authorities } };
}

function listenerWith(listener: ListenerConfig, authorities: readonly string[]): ListenerConfig {
  const { clientValidation } = listener;
  return clientValidation === undefined
    ? listener
    : { ...listener, clientValidation: { ...clientValidation, authorities } };
}

/** A list of CA certificates with its fingerprint. */
interface Bundle extends Fingerprint {
  readonly authorities: readonly string[];
}

const bundles = new WeakMap<readonly string[], Bundle>();

/** Returns the CA certificates of a resource. Reads each list once: a list of 512 KiB takes milliseconds. */
export function bundleOf(resource: ChannelResource): Bundle | undefined {
  const authorities = authoritiesOf(resource);
  if (authorities === undefined) return undefined;
  const known = bundles.get(authorities);
  if (known !== undefined) return known;
  const bundle = { ...fingerprintOf(authorities), authorities };
  bundles.set(authorities, bundle);
  return bundle;
}

/** Those of `prepareFingerprint`, until they are used: their users keep them. */
const prepared = new WeakMap<ChannelResource, Fingerprint>();

/** Returns the fingerprint of a resource. Its bytes do not include those of the CA certificates. */
export function fingerprintOfResource(resource: ChannelResource): Fingerprint {
  const ready = prepared.get(resource);
  if (ready !== undefined) {
    prepared.delete(resource);
    return ready;
  }
  return fingerprintOf(withDigestOfBundle(resource));
}

/** Computes the fingerprint of a resource that is about to be published, in steps. */
export function* prepareFingerprint(resource: ChannelResource): Steps<void> {
  prepared.set(resource, yield* fingerprintInSteps(withDigestOfBundle(resource)));
}

function withDigestOfBundle(resource: ChannelResource): ChannelResource {
  const bundle = bundleOf(resource);
  return bundle === undefined ? resource : replaced(resource, [bundle.digest]);
}

type Upsert = Transaction['upserts'][number];

/** A transaction with each list of CA certificates once. Resources refer to the lists by their positions. */
interface CompactTransaction extends Transaction {
  readonly bundles: readonly (readonly string[])[];
  readonly upserts: readonly (Upsert & { readonly bundle?: number })[];
}

/** Returns a message with each list of CA certificates once. */
export function compact(message: ToProxy): ToProxy {
  if (message.type !== 'transaction') return message;
  const positions = new Map<Digest, number>();
  const lists: (readonly string[])[] = [];
  const upserts = message.upserts.map((upsert) => {
    const bundle = bundleOf(upsert.resource);
    if (bundle === undefined) return upsert;
    const position = positions.get(bundle.digest) ?? lists.push(bundle.authorities) - 1;
    positions.set(bundle.digest, position);
    return { ...upsert, resource: replaced(upsert.resource, []), bundle: position };
  });
  if (lists.length === 0) return message;
  const compacted: CompactTransaction = { ...message, upserts, bundles: lists };
  return compacted;
}

/** Returns the original of an upsert of such a transaction, or `undefined` if it refers to a list that is not there. */
export function expand(upsert: Upsert & { readonly bundle?: unknown }, lists: unknown): Upsert | undefined {
  const { bundle, digest, resource } = upsert;
  if (bundle === undefined) return upsert;
  const authorities: unknown = Array.isArray(lists) && typeof bundle === 'number' ? lists[bundle] : undefined;
  return isTexts(authorities) ? { digest, resource: replaced(resource, authorities) } : undefined;
}

function isTexts(json: unknown): json is readonly string[] {
  return Array.isArray(json) && json.every((item) => typeof item === 'string');
}
