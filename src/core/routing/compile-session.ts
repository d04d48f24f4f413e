import { isService, type BackendObject } from '../graph/backends/backend-object.ts';
import { readObject } from '../graph/inputs.ts';
import type { RouteRuleView } from '../graph/route-views.ts';
import type { Reader } from '../incremental/reader.ts';
import { ownerRefusal, partProblems } from '../rules/engine/validity.ts';
import { millisecondsOf } from '../text/duration.ts';
import { hash64 } from '../text/hash.ts';
import type { Session } from './config.ts';
import { trafficPolicyInForce } from './traffic-policy.ts';
import { cookiePath, sessionType } from '../semantics/intended.ts';

type SessionView = NonNullable<RouteRuleView<'HTTPRoute'>['sessionPersistence']>;

/** The place that a session persistence comes from. */
interface SessionOrigin {
  /** See `Session.identity`. */
  readonly identity: string;
  /** Identifies the rule, for the session persistence of a backend. */
  readonly rule?: string;
}

/**
 * Compiles session persistence (GEP-1619), in the form of v1.7 or in that of earlier bundles (sessionName, cookieConfig,
 * idleTimeout).
 *
 * @param owner identifies the rule, policy or XBackend in a generated name
 */
export function compileSession(
  view: SessionView | undefined,
  origin: SessionOrigin,
  owner = origin.identity,
): Session | undefined {
  if (view === undefined) return undefined;
  const { cookie, cookieConfig, header, sessionName } = view;
  const type = sessionType(view);
  const limits = { ...timeout('absoluteTimeout', view), ...timeout('idleTimeout', view) };
  const given = type === 'Header' ? header : cookie;
  const name = given?.name ?? sessionName ?? generatedName(owner, origin);
  if (type === 'Header') return { type: 'header', ...origin, name, ...limits };
  const lifetime = cookie?.lifetimeType ?? cookieConfig?.lifetimeType;
  return {
    type: 'cookie',
    ...origin,
    name,
    path: cookiePath(view),
    permanent: lifetime === 'Permanent',
    ...limits,
  };
}

/**
 * Compiles the session persistence of a backend: that of an XBackend itself, or of the XBackendTrafficPolicy of another one. Rules
 * have sessions of their own, because "Route rules referencing the same service MUST NOT share persistent sessions" (GEP-1619).
 *
 * @param rule identifies the rule that forwards to the backend
 */
export function backendSession(read: Reader, backend: BackendObject, rule: string): Session | undefined {
  if (!isService(backend)) return sessionOfXBackend(read, backend, rule);
  const policy = trafficPolicyInForce(read, backend);
  if (policy === undefined) return undefined;
  const identity = `XBackendTrafficPolicy/${backend.namespace}/${policy.name}`;
  const session = compileSession(policy.spec.sessionPersistence, { identity, rule });
  return session && { ...session, ...policy.limits };
}

/** The XBackends of a namespace have one identity, so that those of a split can have cookies of the same name (GEP-1619). */
function sessionOfXBackend(read: Reader, { namespace, name }: BackendObject, rule: string): Session | undefined {
  if (ownerRefusal(read.query(partProblems, 'XBackend', namespace, name)) !== undefined) return undefined;
  const view = readObject(read, 'XBackend', namespace, name)?.spec?.sessionPersistence;
  return compileSession(view, { identity: `XBackend/${namespace}`, rule }, `XBackend/${namespace}/${name}`);
}

function timeout(
  field: 'absoluteTimeout' | 'idleTimeout',
  view: SessionView,
): Pick<Session, 'absoluteTimeout' | 'idleTimeout'> {
  const milliseconds = millisecondsOf(view[field]);
  return milliseconds === undefined ? {} : { [field]: milliseconds };
}

/**
 * A name that is unique per rule, and hides the names of objects from clients. Two rules with the same name would only lose sessions.
 */
function generatedName(owner: string, { rule }: SessionOrigin): string {
  const seed = rule === undefined ? owner : `${owner} ${rule}`;
  return `sallyport-${hash64(seed)}`;
}
