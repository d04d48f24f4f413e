import { describeRef, ofQualifiedName } from '../resources/reference.ts';
import { isRecord, recordOf, recordsOf, textOf } from '../text/record.ts';
import type { PreflightFinding } from './finding.ts';
import { resourceOf, type StoredObject } from './target.ts';

/** The condition Accepted of a route for a parent, as written by a controller. */
export interface RouteState {
  /** `HTTPRoute shop/cart` */
  readonly route: string;
  /** `infra/public`, with `/http` for a sectionName and `:80` for a port. */
  readonly parent: string;
  readonly controller: string;
  /** The status of the condition Accepted; `''` if it does not exist. */
  readonly accepted: string;
  readonly reason: string;
}

/** The states of all routes, for comparison after a change. */
export function routeStates(objects: readonly StoredObject[]): readonly RouteState[] {
  return objects.flatMap(({ kind, ref, json }) => {
    if (!kind.endsWith('Route')) return [];
    return recordsOf(recordOf(json['status'])['parents']).map((parent): RouteState => {
      const condition = recordsOf(parent['conditions']).find(({ type }) => type === 'Accepted');
      const controller = textOf(parent['controllerName']);
      return {
        route: describeRef(ref),
        parent: parentOf(recordOf(parent['parentRef']), ref.namespace),
        controller,
        accepted: textOf(condition?.['status']),
        reason: textOf(condition?.['reason']),
      };
    });
  });
}

function parentOf({ namespace, name, sectionName, port }: Readonly<Record<string, unknown>>, ofRoute: string): string {
  const section = textOf(sectionName);
  return `${textOf(namespace) || ofRoute}/${textOf(name)}${section === '' ? '' : `/${section}`}${typeof port === 'number' ? `:${port}` : ''}`;
}

/** Returns the routes that were accepted before a change, but are not accepted after it. */
export function lostAccepted(before: readonly RouteState[], after: readonly RouteState[]): readonly PreflightFinding[] {
  const present = new Map(after.map((state) => [keyOf(state), state]));
  const routes = new Set(after.map(({ route }) => route));
  return before
    .filter(({ accepted }) => accepted === 'True')
    .flatMap((state): readonly PreflightFinding[] => {
      const now = present.get(keyOf(state));
      if (now?.accepted === 'True') return [];
      const [kind = '', name = ''] = state.route.split(' ');
      const { namespace, name: object } = ofQualifiedName(name);
      return [
        {
          check: 'lost-accepted',
          severity: 'blocker',
          subject: state.route,
          message: `Parent ${state.parent} of ${state.controller}: Accepted was True, ${stateText(now, routes.has(state.route))}.`,
          commands: [`kubectl describe ${resourceOf(kind as StoredObject['kind'])} ${object} -n ${namespace}`],
        },
      ];
    });
}

function stateText(now: RouteState | undefined, exists: boolean): string {
  if (now !== undefined)
    return now.accepted === '' ? 'and is not set now' : `and is ${now.accepted} now (${now.reason})`;
  return exists ? 'and the status does not list the parent now' : 'and the route is not found or has no status now';
}

function keyOf({ route, parent, controller }: RouteState): string {
  return JSON.stringify([route, parent, controller]);
}

/** Validates and reads the route states of a report; `undefined` if they are invalid. */
export function readRouteStates(json: unknown): readonly RouteState[] | undefined {
  const routes = recordOf(json)['routes'];
  if (!Array.isArray(routes)) return undefined;
  const states = routes.filter(isRecord).map((route): RouteState => ({
    route: textOf(route['route']),
    parent: textOf(route['parent']),
    controller: textOf(route['controller']),
    accepted: textOf(route['accepted']),
    reason: textOf(route['reason']),
  }));
  return states.every(({ route }) => /^(?:HTTP|GRPC|TLS|TCP|UDP)Route [\w.-]+\/[\w.-]+$/.test(route))
    ? states
    : undefined;
}
