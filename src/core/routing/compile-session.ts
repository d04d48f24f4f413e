import type { RouteRuleView } from '../graph/route-views.ts';
import { parseDuration } from '../text/duration.ts';
import type { Session } from './config.ts';

type SessionView = NonNullable<RouteRuleView<'HTTPRoute'>['sessionPersistence']>;

/**
 * Compiles the session persistence of a rule (GEP-1619), in the form of v1.7 or in that of earlier bundles (sessionName,
 * cookieConfig, idleTimeout).
 *
 * @param identity identifies the rule among all rules: sessions of one rule are invalid for others
 */
export function compileSession(view: SessionView | undefined, identity: string): Session | undefined {
  if (view === undefined) return undefined;
  const { type = 'Cookie', cookie, cookieConfig, header, sessionName } = view;
  const limits = { ...timeout('absoluteTimeout', view), ...timeout('idleTimeout', view) };
  if (type === 'Header')
    return { type: 'header', identity, name: header?.name ?? sessionName ?? generatedName(identity), ...limits };
  const lifetime = cookie?.lifetimeType ?? cookieConfig?.lifetimeType;
  return {
    type: 'cookie',
    identity,
    name: cookie?.name ?? sessionName ?? generatedName(identity),
    path: cookie?.path ?? '/',
    permanent: lifetime === 'Permanent',
    ...limits,
  };
}

function timeout(
  field: 'absoluteTimeout' | 'idleTimeout',
  view: SessionView,
): Pick<Session, 'absoluteTimeout' | 'idleTimeout'> {
  const parsed = view[field] === undefined ? undefined : parseDuration(view[field]);
  return parsed?.ok === true ? { [field]: parsed.milliseconds } : {};
}

/**
 * A name that is unique per rule, and hides the names of objects from clients: FNV-1a with 64 bits. Two rules with the same name
 * would only lose sessions.
 */
function generatedName(identity: string): string {
  const hash = Array.from(identity).reduce(
    (sum, character) => BigInt.asUintN(64, (sum ^ BigInt(character.codePointAt(0) ?? 0)) * 0x100000001b3n),
    0xcbf29ce484222325n,
  );
  return `sallyport-${hash.toString(16).padStart(16, '0')}`;
}
