import { text } from 'node:stream/consumers';
import { parseObject } from '../../../src/core/resources/parse.ts';
import type { Resource } from '../../../src/core/resources/resource.ts';
import { judgeExpressions } from '../../../src/core/rules/matches/expressions.ts';

// Reads a list of routes as JSON, judges their expressions one after the other, and prints what that of the last took: a process of
// its own for `patterns.test.ts`. The others are there since a webhook has judged before.

const routes = (JSON.parse(await text(process.stdin)) as readonly unknown[]).map((json) => {
  const parsed = parseObject(json);
  if (parsed.type !== 'resource') throw new Error('not an object of ours');
  return parsed.resource as Resource<'HTTPRoute'>;
});
const last = routes.pop();
for (const route of routes) judgeExpressions(route);
const held = process.memoryUsage().rss;
const before = process.cpuUsage();
if (last !== undefined) judgeExpressions(last);
const { user, system } = process.cpuUsage(before);
process.stdout.write(
  JSON.stringify({ cpu: (user + system) / 1_000, memory: (process.memoryUsage().rss - held) / 1_024 / 1_024 }),
);
