import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { widerHostnames } from '../../src/core/text/hostname.ts';
import { found, ourClass } from '../support/evaluation.ts';
import { gatewayWith } from '../support/rules.ts';

// The decisions about the matches of a route, compared with the definition: each match with each path of each policy.

const listener = { name: 'web', port: 80, protocol: 'HTTP', allowedRoutes: { namespaces: { from: 'All' } } };
const namespace = 'market';
const hostnames = ['a.example.com', 'b.example.com', '*.example.com', '*.b.example.com', 'example.org'];
const prefixes = ['/a', '/a/b', '/a/b/c', '/ab', '/b', '/c/d', '/e', '/f', '/g'];
const owned = [...hostnames, '*'];

interface Policy {
  readonly name: string;
  readonly hostnames: readonly string[];
  readonly paths?: readonly string[] | undefined;
  readonly namespaces: readonly string[];
}

interface Match {
  readonly type: 'Exact' | 'PathPrefix' | 'RegularExpression';
  /** Of a regular expression: `/.*` follows. */
  readonly value: string;
}

const somePolicies: fc.Arbitrary<readonly Policy[]> = fc
  .array(
    fc.record({
      hostnames: fc.subarray(owned, { minLength: 1, maxLength: 2 }),
      paths: fc.option(fc.subarray(['/', ...prefixes], { minLength: 1 }), { nil: undefined, freq: 4 }),
      namespaces: fc.subarray(['cart', namespace], { minLength: 1 }),
    }),
    { maxLength: 8 },
  )
  .map((policies) => policies.map((policy, index) => ({ name: `policy-${index}`, ...policy })));

const someMatch: fc.Arbitrary<Match> = fc.record({
  type: fc.constantFrom('Exact', 'PathPrefix', 'RegularExpression'),
  value: fc.constantFrom(...prefixes, '/a/b/c/d/e', '/abc', '/z', '/b/x/y'),
});

/** A hostname with a path of some policies, or with all paths (`''`). */
interface Owner {
  readonly hostname: string;
  readonly path: string;
  readonly policies: readonly Policy[];
}

function ownersOf(policies: readonly Policy[], hostname: string): readonly Owner[] {
  const own = policies.filter((policy) => policy.hostnames.includes(hostname === '' ? '*' : hostname));
  const pathsOf = ({ paths = ['/'] }: Policy) => paths.map((path) => (path === '/' ? '' : path));
  return [...new Set(own.flatMap(pathsOf))]
    .map((path) => ({ hostname, path, policies: own.filter((policy) => pathsOf(policy).includes(path)) }))
    .sort((one, other) => other.path.length - one.path.length);
}

const permits = ({ policies }: Owner) => policies.some((policy) => policy.namespaces.includes(namespace));

const isBelow = (path: string, prefix: string) => path.startsWith(`${prefix}/`);

const contains = ({ path }: Owner, { value }: Match) => value === path || isBelow(value, path);

/** Whether a match has precedence over the routes of an owner for a longer path. */
const takes = ({ type, value }: Match, hostname: string, { hostname: ofOwner, path }: Owner) =>
  isBelow(path, value) && (type === 'RegularExpression' || (type === 'PathPrefix' && ofOwner !== hostname));

/** Returns the owner that refuses a match. */
function refusing(policies: readonly Policy[], hostname: string, match: Match): Owner | undefined {
  for (const wider of [hostname, ...widerHostnames(hostname)]) {
    const owners = ownersOf(policies, wider);
    const decisive =
      owners.find((owner) => !permits(owner) && takes(match, hostname, owner)) ??
      owners.find((owner) => contains(owner, match));
    if (decisive !== undefined) return permits(decisive) ? undefined : decisive;
    if (owners.some(({ path }) => path === '')) return undefined;
  }
  return hostnames
    .filter((narrower) => narrower !== hostname && widerHostnames(narrower).includes(hostname))
    .sort()
    .flatMap((narrower) => ownersOf(policies, narrower))
    .find((owner) => !permits(owner) && contains(owner, match));
}

const describeOwner = ({ hostname, path, policies }: Owner) => {
  const names = policies.slice(0, 3).map(({ name }) => `"${name}"`);
  const where = hostname === '' ? 'all hostnames' : `hostname "${hostname}"`;
  const what = path === '' ? 'it' : `path prefix "${path}" of ${where}`;
  return `${names.join(', ')} ${names.length === 1 ? 'permits' : 'permit'} ${what} `;
};

test('the matches of a route are refused by the policies that the definition names', () => {
  fc.assert(
    fc.property(
      somePolicies,
      fc.constantFrom('', ...hostnames),
      fc.uniqueArray(someMatch, { minLength: 1, maxLength: 4, selector: ({ type, value }) => `${type} ${value}` }),
      (policies, hostname, matches) => {
        const route = {
          apiVersion: 'gateway.networking.k8s.io/v1',
          kind: 'HTTPRoute',
          metadata: { name: 'route', namespace },
          spec: {
            parentRefs: [{ name: 'front', namespace: 'shop' }],
            ...(hostname !== '' && { hostnames: [hostname] }),
            rules: [
              {
                matches: matches.map(({ type, value }) => ({
                  path: { type, value: type === 'RegularExpression' ? `${value}/.*` : value },
                })),
              },
            ],
          },
        };
        const objects = policies.map(({ name, namespaces, ...spec }) => ({
          apiVersion: 'sallyport.dev/v1alpha1',
          kind: 'HostnamePolicy',
          metadata: { name },
          spec: { ...spec, namespaces: { names: namespaces } },
        }));
        const world = [route, ...objects, gatewayWith(listener), ourClass] as const;
        // A hostname that is refused with all paths is not compared further.
        if (found('hostname-not-permitted', world).length > 0) return;
        const expected = matches.flatMap((match, index) => {
          const owner = refusing(policies, hostname, match);
          return owner === undefined ? [] : [[`spec.rules[0].matches[${index}]`, describeOwner(owner)]];
        });
        const actual = found('path-not-permitted', world).map(([path, message]) => [
          path,
          /HostnamePolic(?:y|ies) (".*? permits? (?:it|path prefix ".*?" of .*?) )(?:only )?in /.exec(message)?.[1],
        ]);
        expect(actual).toEqual(expected);
      },
    ),
    { numRuns: 400 },
  );
});
