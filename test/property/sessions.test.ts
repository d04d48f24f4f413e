import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { renewedKeys } from '../../src/certificates/session-keyring.ts';
import type { Session } from '../../src/core/routing/config.ts';
import { createCounters } from '../../src/proxy/counters.ts';
import { Sessions } from '../../src/proxy/sessions/sessions.ts';
import { Endpoint, EndpointSet } from '../../src/proxy/upstream/endpoints.ts';

const hour = 3_600_000;
/** Sessions of a former key are valid for longer than this. */
const memory = 90 * 24 * hour;

const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant('request' as const),
      client: fc.nat(2),
      replica: fc.nat(2),
      backend: fc.constantFrom('endpoints/shop/v1/80', 'endpoints/shop/v2/80'),
      /** A lie that the client sends before its cookie. */
      junk: fc.option(fc.string({ maxLength: 20 }).map((text) => text.replaceAll(/[;\s]/g, ''))),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('restart' as const), replica: fc.nat(2) }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('time' as const), hours: fc.nat(24 * 40) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('endpoints' as const),
      numbers: fc.uniqueArray(fc.nat(4), { minLength: 1, maxLength: 5 }),
    }),
  },
);

const terms: Session = { type: 'cookie', identity: 'HTTPRoute/shop/cart 0', name: 'cart', path: '/', permanent: false };

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;
type Request = Extract<Step, { readonly type: 'request' }>;

interface Client {
  cookie: string;
  seen: number;
  /** Backend → address of the endpoint, and start of the session. */
  readonly at: Map<string, { readonly address: string; readonly began: number }>;
}

/** Three replicas and three clients. */
class World {
  private now = Date.UTC(2026, 0);
  private keys = renewedKeys([], this.now);
  private set = setOf([0, 1, 2]);
  private readonly session: Session;
  private readonly replicas = [0, 1, 2].map(() => this.replica());
  private readonly clients = [0, 1, 2].map((): Client => ({ cookie: '', seen: 0, at: new Map() }));

  constructor(session: Session) {
    this.session = session;
  }

  /** Returns whether a request went where it should. */
  take(next: Step): boolean {
    if (next.type === 'request') return this.request(next);
    if (next.type === 'restart') this.replicas[next.replica] = this.replica();
    else if (next.type === 'endpoints') this.set = setOf(next.numbers);
    else {
      this.now += next.hours * hour;
      this.keys = renewedKeys(this.keys, this.now);
      for (const one of this.replicas) one.setKeys(this.keys);
    }
    return true;
  }

  private replica(): Sessions {
    const sessions = new Sessions(createCounters().sessions, () => this.now);
    sessions.setKeys(this.keys);
    return sessions;
  }

  private request({ client: number, replica, backend, junk }: Request): boolean {
    const client = this.clients[number];
    if (client === undefined) throw new Error('there are three');
    const field = [...(junk === null ? [] : [`cart=${junk}`]), client.cookie].join('; ');
    const open = this.replicas[replica]?.open(this.session, { fields: ['Cookie', field], names: ['cookie'] }, backend);
    const pinned = open?.endpointIn(this.set, [], 0);
    const isRight = this.isRight(client, backend, pinned);
    const endpoint = pinned ?? this.set.pick([], 0);
    if (endpoint === undefined) throw new Error('there is always one');
    const began = pinned === undefined ? this.now : (client.at.get(backend)?.began ?? this.now);
    const [, given] = open?.fieldsFor(endpoint, 'http') ?? [];
    client.cookie = given?.split(';')[0] ?? client.cookie;
    client.seen = this.now;
    client.at.set(backend, { address: endpoint.address, began });
    return isRight;
  }

  private isRight({ at, seen }: Client, backend: string, pinned: Endpoint | undefined): boolean {
    const before = at.get(backend);
    const isOver = before === undefined || this.now - before.began >= (this.session.absoluteTimeout ?? Infinity);
    const isThere = this.set.all().some(({ address }) => address === before?.address);
    if (isOver) return pinned === undefined;
    return !isThere || this.now - seen >= memory || pinned?.address === before.address;
  }
}

test('a client stays at its endpoint of each backend while that is there: on every replica, after restarts, and with new keys', () => {
  const limits = fc.constantFrom({}, { absoluteTimeout: 24 * hour });
  const property = fc.property(fc.array(step, { maxLength: 60 }), limits, (steps, limit) => {
    const world = new World({ ...terms, ...limit });
    return steps.every((next) => world.take(next));
  });
  expect(() => fc.assert(property, { numRuns: 200 })).not.toThrow();
});

function setOf(numbers: readonly number[]): EndpointSet {
  return new EndpointSet(numbers.map((number) => new Endpoint(`10.0.0.${number}`, 80)));
}
