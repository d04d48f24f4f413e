import { ApiError, type ApiClient, type ApiRequest } from '../../../src/kubernetes/index.ts';
import { apply } from './kubectl.ts';
import { httpRoute } from './routes.ts';
import { waitFor } from './wait.ts';

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
const bad = { rules: [{ filters: [{ type: 'RequestHeaderModifier', requestHeaderModifier: { set: [{ name: 'X-Shop', value: 'cart' }], remove: ['x-shop'] } }] }] };

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
  return { verdict, request: { method: 'PATCH', path: `${routes(namespace)}/stored`, query: dryRun, contentType: 'application/merge-patch+json', body: { spec } } };
}

const dryRun = { dryRun: 'All' };

function routes(namespace: string): string {
  return `/apis/gateway.networking.k8s.io/v1/namespaces/${namespace}/httproutes`;
}

/** Sends so many writes at once. */
export async function burst(client: ApiClient, writeOf: (index: number) => Write, count: number): Promise<Report> {
  return summarise(await Promise.all(Array.from({ length: count }, async (_, index) => send(client, writeOf(index)))));
}

interface LoadOptions {
  readonly perSecond?: number;
  /** How many are sent at the same moment. Many need more connections than the API server keeps, so that it makes new ones all the time. */
  readonly together?: number;
}

/** No load goes on for longer, whatever the test does. */
const mostWrites = 40_000;
/** A machine that cannot keep up gets fewer writes: it is not overload that is tested. */
const mostUnanswered = 60;

/** Sends writes at a steady pace until it is stopped. */
export class Load {
  readonly #client: ApiClient;
  readonly #writeOf: (index: number) => Write;
  readonly #writes: Promise<string>[] = [];
  readonly #timer: NodeJS.Timeout;
  #answered = 0;

  constructor(client: ApiClient, writeOf: (index: number) => Write, { perSecond = 100, together = 1 }: LoadOptions = {}) {
    this.#client = client;
    this.#writeOf = writeOf;
    this.#timer = setInterval(() => this.#sendSome(together), (1000 * together) / perSecond);
  }

  /** Waits until so many more writes were answered. */
  async goesOn(writes: number): Promise<void> {
    const wished = this.#answered + writes;
    await waitFor(`the load goes on (${this.#writes.length} writes sent so far)`, async () => (this.#answered >= wished ? true : undefined), 120);
  }

  /** Sends no more, and tells how all went. May be called again. */
  async stop(): Promise<Report> {
    clearInterval(this.#timer);
    return summarise(await Promise.all(this.#writes));
  }

  #sendSome(count: number): void {
    const sent = this.#writes.length;
    if (sent >= mostWrites) clearInterval(this.#timer);
    if (sent >= mostWrites || sent + count > this.#answered + mostUnanswered) return;
    for (let index = sent; index < sent + count; index += 1) this.#writes.push(this.#send(index));
  }

  async #send(index: number): Promise<string> {
    const outcome = await send(this.#client, this.#writeOf(index));
    this.#answered += 1;
    return outcome;
  }
}

/** The verdict where it is the right one, otherwise a surprise. */
async function send(client: ApiClient, { request, verdict }: Write): Promise<string> {
  const { verdict: found, words } = await judge(client, request);
  return found === verdict ? verdict : `must be ${verdict}: ${words}`;
}

async function judge(client: ApiClient, request: ApiRequest): Promise<{ readonly verdict?: Write['verdict']; readonly words: string }> {
  try {
    await client.request(request);
    return { verdict: 'accepted', words: 'it was accepted' };
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    return error instanceof ApiError && error.status === 422 && words.includes(`[${rule}]`) ? { verdict: 'denied', words } : { words };
  }
}

function summarise(outcomes: readonly string[]): Report {
  const counts: Record<string, number> = {};
  for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1;
  const { accepted = 0, denied = 0, ...surprises } = counts;
  return { accepted, denied, surprises };
}
