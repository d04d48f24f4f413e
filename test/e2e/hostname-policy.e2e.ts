import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { installCrds, removeCrds, useNamespace } from './support/cluster.ts';
import { gateway, installController, uninstallController, waitForGateway } from './support/controller.ts';
import type { Destination } from './support/client.ts';
import { deployEcho } from './support/echo.ts';
import { ask } from './support/http1-client.ts';
import { apply, getObject, kubectl, kubectlOutput } from './support/kubectl.ts';
import { httpRoute } from './support/routes.ts';
import { installSallyport, kubeletPatience, replaceSettings, uninstallSallyport } from './support/sallyport.ts';
import { waitFor } from './support/wait.ts';

// Two namespaces share a Gateway. The CRD of HostnamePolicy is installed after the webhook and the controller.
const shop = useNamespace('hostnames-shop');
const market = useNamespace('hostnames-market');
const host = 'shop.example.com';
const crd = join(import.meta.dirname, '../../deploy/components/hostname-policy/crd.yaml');
const servedBy = 'x-served-by';

let front: Destination;

beforeAll(async () => {
  await installCrds('v1.7.0', 'standard');
  await installSallyport('enforce');
  await installController();
  await Promise.all([deployEcho('cart', shop), deployEcho('cart', market)]);
  const { spec, ...rest } = gateway('front', shop, 80);
  const listeners = spec.listeners.map((listener) => ({ ...listener, allowedRoutes: { namespaces: { from: 'All' } } }));
  await apply({ ...rest, spec: { ...spec, listeners } });
  const { status } = await waitForGateway('front', shop, ['Programmed', 'True']);
  front = { address: status?.addresses?.[0]?.value ?? '', port: 80, host };
});

afterAll(async () => {
  await kubectl(['delete', 'httproute', '--all', '-n', market]);
  await kubectl(['delete', 'httproute,gateway', '--all', '-n', shop]);
  await kubectl(['delete', '-f', crd, '--ignore-not-found']);
  await uninstallController();
  await uninstallSallyport();
  await removeCrds();
});

function routeIn(namespace: string, name: string, ...hostnames: readonly string[]): object {
  return routeForPath([namespace, name], '/', hostnames);
}

function routeForPath(
  [namespace, name]: readonly [namespace: string, name: string],
  path: string,
  hostnames: readonly string[],
): object {
  const stamp = { set: [{ name: servedBy, value: `${namespace}/${name}` }] };
  return httpRoute(
    { name, namespace },
    {
      parentRefs: [{ name: 'front', namespace: shop }],
      hostnames,
      rules: [
        {
          matches: [{ path: { type: 'PathPrefix', value: path } }],
          filters: [{ type: 'ResponseHeaderModifier', responseHeaderModifier: stamp }],
          backendRefs: [{ name: 'cart', port: 80 }],
        },
      ],
    },
  );
}

interface RouteObject {
  readonly status?: {
    readonly parents?: readonly {
      readonly conditions: readonly {
        readonly type: string;
        readonly status: string;
        readonly reason: string;
        readonly message: string;
      }[];
    }[];
  };
}

async function conditionOfRoute(namespace: string, name: string, type: string) {
  const { status } = await getObject<RouteObject>(['httproute', name, '-n', namespace]);
  return status?.parents?.[0]?.conditions.find((condition) => condition.type === type);
}

async function waitForCondition(
  [namespace, name]: readonly [namespace: string, name: string],
  type: string,
  expected: string,
): Promise<string> {
  return waitFor(`${type} of ${namespace}/${name} is ${expected}`, async () => {
    const condition = await conditionOfRoute(namespace, name, type);
    return `${condition?.status} ${condition?.reason}` === expected ? condition?.message : undefined;
  });
}

async function waitUntilServedBy(name: string, path = '/'): Promise<boolean> {
  return waitFor(`${name} serves ${host}${path}`, async () => {
    const { headers } = await ask({ ...front, path });
    return headers[servedBy] === name ? true : undefined;
  });
}

const policy = {
  apiVersion: 'sallyport.dev/v1alpha1',
  kind: 'HostnamePolicy',
  metadata: { name: 'shop' },
  spec: { hostnames: [host], namespaces: { names: [shop] } },
};

test('without the CRD, the older route serves the hostname of another team', async () => {
  await apply(routeIn(market, 'taker', host));
  await waitForCondition([market, 'taker'], 'Accepted', 'True Accepted');
  await apply(routeIn(shop, 'owner', host));
  await waitForCondition([shop, 'owner'], 'Accepted', 'True Accepted');
  expect(await waitUntilServedBy(`${market}/taker`)).toBe(true);
});

test('a policy warns about the routes that it breaks, and gives the hostname to its owner', async () => {
  await kubectlOutput(['apply', '--server-side', '-f', crd]);
  await kubectlOutput(['wait', '--for=condition=Established', '-f', crd, '--timeout=60s']);
  // The webhook notices the CRD a moment later.
  await waitFor('the webhook predicts the effect of the policy', async () => {
    const { code, stderr } = await kubectl(['create', '-f', '-', '--dry-run=server'], {
      stdin: JSON.stringify(policy),
    });
    return code === 0 && stderr.includes(`Creating HostnamePolicy shop breaks HTTPRoute "${market}/taker"`)
      ? true
      : undefined;
  });
  await apply(policy);
  const message = await waitForCondition([market, 'taker'], 'Accepted', 'False HostnameNotPermitted');
  expect(message).toContain(`HostnamePolicy "shop" permits it only in namespace "${shop}"`);
  await waitForCondition([shop, 'owner'], 'Accepted', 'True Accepted');
  expect(await waitUntilServedBy(`${shop}/owner`)).toBe(true);
});

test("kubectl apply of a route for another owner's hostname is denied with the name of the owner", async () => {
  // Each replica of the webhook notices the policy in its own time.
  const outcome = await waitFor('the webhook denies the route', async () => {
    const { code, stderr } = await kubectl(['apply', '-f', '-', '--dry-run=server'], {
      stdin: JSON.stringify(routeIn(market, 'second', host)),
    });
    return code === 0 ? undefined : { stderr };
  });
  expect(outcome.stderr).toContain(`Namespace "${market}" may not serve hostname "${host}"`);
  expect(outcome.stderr).toContain(`HostnamePolicy "shop" permits it only in namespace "${shop}"`);
  expect(outcome.stderr).toContain('[hostname-not-permitted]');
});

test('a hostname without policy, and the namespace of the owner, are not affected', async () => {
  await apply(routeIn(market, 'own', 'market.example.com'), routeIn(shop, 'more', host));
  await waitForCondition([market, 'own'], 'Accepted', 'True Accepted');
  expect(await waitForCondition([shop, 'more'], 'Accepted', 'True Accepted')).toBe('');
});

describe('a policy for paths', () => {
  const ofPaths = {
    ...policy,
    metadata: { name: 'offers' },
    spec: { hostnames: [host], paths: ['/offers'], namespaces: { names: [market] } },
  };

  test('gives a path to a namespace that does not own the hostname', async () => {
    await apply(ofPaths);
    await waitFor('the webhook admits the route for the path', async () => {
      const { code } = await kubectl(['apply', '-f', '-'], {
        stdin: JSON.stringify(routeForPath([market, 'offers'], '/offers', [host])),
      });
      return code === 0 ? true : undefined;
    });
    await waitForCondition([market, 'offers'], 'Accepted', 'True Accepted');
    expect(await waitUntilServedBy(`${market}/offers`, '/offers/today')).toBe(true);
    expect(await waitUntilServedBy(`${shop}/owner`, '/offer')).toBe(true);
  });

  test('denies this path to the owner of the hostname, and other paths to the owner of the path', async () => {
    const [taken, more] = await Promise.all(
      [routeForPath([shop, 'taken'], '/offers/old', [host]), routeForPath([market, 'more'], '/list', [host])].map(
        (route) => kubectl(['apply', '-f', '-'], { stdin: JSON.stringify(route) }),
      ),
    );
    expect(taken?.code).not.toBe(0);
    expect(taken?.stderr).toContain(
      `HostnamePolicy "offers" permits path prefix "/offers" of hostname "${host}" only in namespace "${market}"`,
    );
    expect(more?.code).not.toBe(0);
    expect(more?.stderr).toContain(`HostnamePolicy "shop" permits it only in namespace "${shop}"`);
    expect(more?.stderr).toContain('[path-not-permitted]');
  });

  test('that is created later takes a stored match out of service', async () => {
    await kubectlOutput(['delete', 'hostnamepolicy', 'offers']);
    await waitForCondition([market, 'offers'], 'Accepted', 'False HostnameNotPermitted');
    await waitFor('the webhook admits the route of the owner', async () => {
      const { code } = await kubectl(['apply', '-f', '-'], {
        stdin: JSON.stringify(routeForPath([shop, 'taken'], '/offers/old', [host])),
      });
      return code === 0 ? true : undefined;
    });
    expect(await waitUntilServedBy(`${shop}/taken`, '/offers/old')).toBe(true);
    await apply(ofPaths);
    const message = await waitForCondition([shop, 'taken'], 'Accepted', 'False PathNotPermitted');
    expect(message).toContain(`only in namespace "${market}"`);
    expect(await waitUntilServedBy(`${market}/offers`, '/offers/old')).toBe(true);
    await kubectlOutput(['delete', 'hostnamepolicy', 'offers']);
  });
});

test('without the policy, the route is served again', async () => {
  await kubectlOutput(['delete', 'hostnamepolicy', 'shop']);
  await waitForCondition([market, 'taker'], 'Accepted', 'True Accepted');
  expect(await waitUntilServedBy(`${market}/taker`)).toBe(true);
});

test('a policy of the settings denies without an object, and a stored route loses the hostname', async () => {
  const owned = 'bank.example.com';
  await apply(routeIn(market, 'former', owned));
  await waitForCondition([market, 'former'], 'Accepted', 'True Accepted');
  await replaceSettings({
    hostnamePolicies: [{ name: 'bank', hostnames: [owned], namespaces: { names: [shop] } }],
  });
  const denied = await waitFor(
    'the webhook denies the route of another namespace',
    async () => {
      const { code, stderr } = await kubectl(['create', '-f', '-', '--dry-run=server'], {
        stdin: JSON.stringify(routeIn(market, 'bank', owned)),
      });
      return code === 0 ? undefined : stderr;
    },
    kubeletPatience,
  );
  const owner = `HostnamePolicy "bank (settings)" permits it only in namespace "${shop}"`;
  expect(denied).toContain(owner);
  const message = await waitFor(
    'the controller reads the policy of the settings',
    async () => {
      const condition = await conditionOfRoute(market, 'former', 'Accepted');
      return condition?.reason === 'HostnameNotPermitted' ? condition.message : undefined;
    },
    kubeletPatience,
  );
  expect(message).toContain(owner);
});
