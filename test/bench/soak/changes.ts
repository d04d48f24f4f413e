import { setTimeout as pause } from 'node:timers/promises';
import type { Ports } from '../proxy/configurations.ts';
import { requireHeader } from './calls.ts';
import type { SoakedDataPlane } from './data-plane.ts';

/** Seconds after which a route is changed, and after which it is removed. */
const ages = { changed: 5, removed: 10 };
const header = 'x-version';

/**
 * Every second until `signal` aborts: creates a route, changes an older one, removes a still older one, replaces the
 * certificate, and requests the two routes. Resolves when the last change is in force.
 */
export async function changeEverySecond(
  dataPlane: SoakedDataPlane,
  ports: Ports,
  { signal, onDone, onError }: { signal: AbortSignal; onDone: () => void; onError: (error: unknown) => void },
): Promise<void> {
  for (let number = 0; !signal.aborted; number += 1) {
    const next = performance.now() + 1000;
    try {
      const [older, oldest] = [number - ages.changed, number - ages.removed];
      const changed = older < 0 ? [] : [routeOf(older, '2')];
      await dataPlane.change([routeOf(number, '1'), ...changed], oldest < 0 ? [] : [routeOf(oldest, '2')]);
      await dataPlane.replaceCertificate();
      await requireHeader(ports, pathOf(number), [header, '1']);
      if (older >= 0) await requireHeader(ports, pathOf(older), [header, '2']);
      onDone();
    } catch (error) {
      onError(error);
    }
    await pause(Math.max(0, next - performance.now()), undefined, { signal }).catch(() => undefined);
  }
}

function pathOf(number: number): string {
  return `/change/${number}`;
}

function routeOf(number: number, version: string): unknown {
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name: `change-${number}`, namespace: 'bench' },
    spec: {
      parentRefs: [{ name: 'web', sectionName: 'http' }],
      rules: [
        {
          matches: [{ path: { type: 'Exact', value: pathOf(number) } }],
          filters: [
            { type: 'ResponseHeaderModifier', responseHeaderModifier: { set: [{ name: header, value: version }] } },
          ],
          backendRefs: [{ name: 'shop', port: 80 }],
        },
      ],
    },
  };
}
