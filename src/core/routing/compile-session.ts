import { isService, type BackendObject } from '../graph/backend-object.ts';
import type { RouteRuleView } from '../graph/route-views.ts';
import type { Reader } from '../incremental/reader.ts';
import { fieldDefaults } from '../schema/index.ts';
import { millisecondsOf } from '../text/duration.ts';
import { hash64 } from '../text/hash.ts';
import type { Session } from './config.ts';
import { trafficPolicyInForce } from './traffic-policy.ts';

type SessionView = NonNullable<RouteRuleView<'HTTPRoute'>['sessionPersistence']>;

/** The place that a session persistence comes from. */
interface SessionOrigin {
  /** Identifies the rule or policy among all: sessions of one are invalid for others. */
  readonly identity: string;
  /** Identifies the rule, for the session persistence of a backend. */
  readonly rule?: string;
}

/**
 * Compiles session persistence (GEP-1619), in the form of v1.7 or in that of earlier bundles (sessionName, cookieConfig,
 * idleTimeout).
 */
export function compileSession(view: SessionView | undefined, origin: SessionOrigin): Session | undefined {
  if (view === undefined) return undefined;
  const { type = fieldDefaults.session.type, cookie, cookieConfig, header, sessionName } = view;
  const limits = { ...timeout('absoluteTimeout', view), ...timeout('idleTimeout', view) };
  if (type === 'Header')
    return { type: 'header', ...origin, name: header?.name ?? sessionName ?? generatedName(origin), ...limits };
  const lifetime = cookie?.lifetimeType ?? cookieConfig?.lifetimeType;
  return {
    type: 'cookie',
    ...origin,
    name: cookie?.name ?? sessionName ?? generatedName(origin),
    path: cookie?.path ?? fieldDefaults.session.cookiePath,
    permanent: lifetime === 'Permanent',
    ...limits,
  };
}

/**
 * Compiles the session persistence of a backend: that of its XBackendTrafficPolicy. Rules have sessions of their own, because
 * "Route rules referencing the same service MUST NOT share persistent sessions" (GEP-1619).
 *
 * @param rule identifies the rule that forwards to the backend
 */
export function backendSession(read: Reader, backend: BackendObject, rule: string): Session | undefined {
  const policy = isService(backend) ? trafficPolicyInForce(read, backend) : undefined;
  if (policy === undefined) return undefined;
  const identity = `XBackendTrafficPolicy/${backend.namespace}/${policy.name}`;
  const session = compileSession(policy.spec.sessionPersistence, { identity, rule });
  return session && { ...session, ...policy.limits };
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
function generatedName({ identity, rule }: SessionOrigin): string {
  const seed = rule === undefined ? identity : `${identity} ${rule}`;
  return `sallyport-${hash64(seed)}`;
}
