import { requestRouteKinds } from '../../graph/protocols.ts';
import type { Path } from '../../resources/path.ts';
import type { Resource } from '../../resources/resource.ts';
import { type ViewAt } from '../../schema/index.ts';
import { display, quote } from '../../text/display.ts';
import { controlCharacter } from '../../text/header.ts';
import { demand } from '../engine/demand.ts';
import { invalidObject, routeRules, unsupportedValueAt } from '../engine/parts.ts';
import type { Consequence } from '../engine/rule.ts';
import { controlCharacterInValue } from '../headers/control-character-in-value.ts';
import { sessionType } from '../../semantics/intended.ts';

// Session persistence: the cookie or header that assigns a client to a backend.

export type Session = ViewAt<'HTTPRoute', 'spec.rules[].sessionPersistence'>;

/** Returns the name of the cookie or header, and its location. */
export function nameOf(session: Session): { readonly name: string; readonly below: readonly string[] } | undefined {
  const { sessionName, cookie, header } = session;
  const [member, settings] =
    sessionType(session) === 'Header' ? (['header', header] as const) : (['cookie', cookie] as const);
  if (settings?.name !== undefined) return { name: settings.name, below: [member, 'name'] };
  return sessionName === undefined ? undefined : { name: sessionName, below: ['sessionName'] };
}

/** The kinds with session persistence that is served. */
export const sessionKinds = [...requestRouteKinds, 'XBackendTrafficPolicy', 'XBackend'] as const;

/** The session persistence of a rule, policy or backend. */
export interface SessionPart {
  readonly session: Session;
  readonly path: Path;
  /** The consequence if it cannot be served. */
  readonly unserved: Consequence;
}

/** Returns all session persistence of an object, in order. */
export function sessionParts(subject: Resource<(typeof sessionKinds)[number]>): readonly SessionPart[] {
  if (subject.kind === 'XBackendTrafficPolicy' || subject.kind === 'XBackend') {
    const session = subject.spec?.sessionPersistence;
    return session === undefined ? [] : [{ session, path: ['spec', 'sessionPersistence'], unserved: invalidObject }];
  }
  return routeRules(subject).flatMap(({ rule: { sessionPersistence: session }, path }) =>
    session === undefined
      ? []
      : [{ session, path: [...path, 'sessionPersistence'], unserved: unsupportedValueAt(path) }],
  );
}

const lifetimes = ['Session', 'Permanent'];

/** The fields with a fixed set of values, relative to `sessionPersistence`. */
export function enumsOf({ type, cookie, cookieConfig }: Session): readonly {
  readonly below: readonly string[];
  readonly value: string | undefined;
  readonly known: readonly string[];
}[] {
  return [
    { below: ['type'], value: type, known: ['Cookie', 'Header'] },
    { below: ['cookie', 'lifetimeType'], value: cookie?.lifetimeType, known: lifetimes },
    { below: ['cookieConfig', 'lifetimeType'], value: cookieConfig?.lifetimeType, known: lifetimes },
  ];
}

/** Before v1.7, the schema did not restrict the characters of a name. */
export const sessionNameVisible = demand(
  controlCharacterInValue,
  function judge(name: string, report) {
    const found = controlCharacter(name);
    if (found !== undefined)
      report({
        below: [],
        value: display(name),
        message: `Invalid cookie or header name ${quote(name)}: it contains the control character ${found}. Remove it.`,
      });
  },
  'sessionName',
);
