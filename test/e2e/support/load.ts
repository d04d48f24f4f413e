import { ApiError, type ApiClient, type ApiRequest } from '../../../src/kubernetes/index.ts';
import { apply } from './kubectl.ts';
import { httpRoute } from './routes.ts';
import { countOf, SteadyCalls, type Pace } from './steady-calls.ts';

/** A write that the webhook judges, and what it must say. All are dry runs: the cluster stays as it is. */
export interface Write {
  readonly request: ApiRequest;
  readonly verdict: 'accepted' | 'denied';
}

/** How many writes ended as they must, and how many otherwise, by what came of them. */
export interface Report {
  readonly accepted: number;
  readonly denied: number;
  readonly surprises: Readonly<Record<string, number>>;
}

/** The surprise that a bad write is where nobody judges it. */
export const unjudged = 'must be denied: it was accepted';

const rule = 'header-acted-on-twice';
const good = { rules: [{}] };
const bad = {
  rules: [
    {
      filters: [
        {
          type: 'RequestHeaderModifier',
          requestHeaderModifier: { set: [{ name: 'X-Shop', value: 'cart' }], remove: ['x-shop'] },
        },
      ],
    },
  ],
};

/** Stores the route that half of the writes change. */
export async function storeLoadRoute(namespace: string): Promise<void> {
  await apply(httpRoute({ name: 'stored', namespace }, good));
}

/** Good creations and updates. `storeLoadRoute` comes before. */
export function goodWrites(namespace: string): (index: number) => Write {
  return (index) => (index % 2 === 0 ? creation(namespace, index, 'accepted') : change(namespace, index, 'accepted'));
}

/** Creations and updates, good and bad ones in turn. `storeLoadRoute` comes before. */
export function mixedWrites(namespace: string): (index: number) => Write {
  return (index) => {
    const verdict = index % 4 < 2 ? 'accepted' : 'denied';
    return index % 2 === 0 ? creation(namespace, index, verdict) : change(namespace, index, verdict);
  };
}

function creation(namespace: string, index: number, verdict: Write['verdict']): Write {
  const body = httpRoute({ name: `load-${index}`, namespace }, verdict === 'accepted' ? good : bad);
  return { verdict, request: { method: 'POST', path: routes(namespace), query: dryRun, body } };
}

/** What changes nothing is not judged, hence the hostname. */
function change(namespace: string, index: number, verdict: Write['verdict']): Write {
  const spec = { hostnames: [`h${index}.example.com`], ...(verdict === 'denied' && bad) };
  return {
    verdict,
    request: {
      method: 'PATCH',
      path: `${routes(namespace)}/stored`,
      query: dryRun,
      contentType: 'application/merge-patch+json',
      body: { spec },
    },
  };
}

const dryRun = { dryRun: 'All' };

function routes(namespace: string): string {
  return `/apis/gateway.networking.k8s.io/v1/namespaces/${namespace}/httproutes`;
}

/** Sends so many writes at once. */
export async function burst(client: ApiClient, writeOf: (index: number) => Write, count: number): Promise<Report> {
  const outcomes = await Promise.all(Array.from({ length: count }, async (_, index) => send(client, writeOf(index))));
  return reportOn(countOf(outcomes));
}

/** A machine that cannot keep up gets fewer writes: it is not overload that is tested. */
const maxUnanswered = 60;

/** Sends writes at a steady pace until it is stopped. */
export class Load {
  private readonly writes: SteadyCalls;

  /** Many writes at the same moment need more connections than the API server keeps, so that it makes new ones all the time. */
  constructor(
    client: ApiClient,
    writeOf: (index: number) => Write,
    { perSecond = 100, together = 1 }: Partial<Pace> = {},
  ) {
    this.writes = new SteadyCalls((index) => send(client, writeOf(index)), { perSecond, together, maxUnanswered });
  }

  /** Waits until so many more writes were answered. */
  goesOn(writes: number): Promise<void> {
    return this.writes.goesOn(writes);
  }

  /** Sends no more, and tells how all went. May be called again. */
  async stop(): Promise<Report> {
    const { outcomes } = await this.writes.stop();
    return reportOn(outcomes);
  }
}

/** The verdict where it is the right one, otherwise a surprise. */
async function send(client: ApiClient, { request, verdict }: Write): Promise<string> {
  const { verdict: found, words } = await judge(client, request);
  return found === verdict ? verdict : `must be ${verdict}: ${words}`;
}

async function judge(
  client: ApiClient,
  request: ApiRequest,
): Promise<{ readonly verdict?: Write['verdict']; readonly words: string }> {
  try {
    await client.request(request);
    return { verdict: 'accepted', words: 'it was accepted' };
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    return error instanceof ApiError && error.status === 422 && words.includes(`[${rule}]`)
      ? { verdict: 'denied', words }
      : { words };
  }
}

function reportOn({ accepted = 0, denied = 0, ...surprises }: Readonly<Record<string, number>>): Report {
  return { accepted, denied, surprises };
}
