import type { Random } from '../differential/random.ts';

/** Stands for a value that is nested too deeply to be written by JSON.stringify; see `textOf`. */
const deepMark = '\u0001deep';

const words = [
  '',
  ' ',
  'a',
  'cart',
  'web',
  'shop',
  'HTTP',
  'HTTPS',
  'Exact',
  'PathPrefix',
  'RegularExpression',
  'Service',
  'Same',
  '*',
  '*.example.com',
  'example.com',
  '/',
  '/a/../b',
  '//',
  '1.2.3.4',
  '::1',
  '10s',
  '1.5h',
  '0',
  '-1',
  'true',
  'null',
];
const hostile = [
  '\0',
  '\n',
  '\r\n',
  '\u0085',
  '\u2028',
  '\u202e',
  '\ufeff',
  '\ud800',
  '\udc00\ud800',
  '😀',
  'é',
  'e\u0301',
  '%',
  '%zz',
  '%2f..%2f',
  '"',
  '\\',
  '`',
  '${a}',
  '{{a}}',
  '<!--',
  ']]>',
  '[31m',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'then',
  'length',
  '0',
  '(',
  '[',
  '(a+)+$',
  '(?=a)',
  '\\1',
  'a{1000}',
  '(?i)é',
  '.*.*.*=.*',
  '\\p{L}',
  'a'.repeat(64),
  'a'.repeat(254),
  `${'a.'.repeat(130)}a`,
  '/'.repeat(1025),
  '9'.repeat(400),
  '1e999',
];
const numbers = [0, -0, 1, -1, 80, 443, 65_535, 65_536, 1.5, 1e21, 1e308, -1e308, 5e-324, 2 ** 31, 2 ** 53, -(2 ** 63)];
const keys = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'length',
  '',
  '0',
  '-1',
  'a/b',
  'a.b/c',
  'spec',
  'status',
  'metadata',
  'name',
  'namespace',
  'kind',
  'group',
  'type',
  'value',
  'rules',
  '\0',
  '\ud800',
  '\u202e',
];

/** Any string: plain, meaningful somewhere, hostile, or long. */
export function anyText(random: Random): string {
  const size = random.below(100);
  if (size < 45) return random.pick(words);
  if (size < 85) return random.pick(hostile);
  if (size < 97) return random.pick(hostile) + random.pick(words) + random.pick(hostile);
  return random.pick([...hostile, ...words]).repeat(1 + random.below(random.chance(0.02) ? 20_000 : 60));
}

/** Any JSON value; deeper ones are rarer. */
export function anyJson(random: Random, depth = 0): unknown {
  const choice = random.below(depth > 4 ? 60 : 100);
  if (choice < 25) return anyText(random);
  if (choice < 40) return random.pick(numbers);
  if (choice < 50) return random.pick([true, false]);
  if (choice < 58) return null;
  if (choice < 60) return random.chance(0.02) ? deepMark : '';
  if (choice < 80) return Array.from({ length: lengthOf(random) }, () => anyJson(random, depth + 2));
  return Object.fromEntries(
    Array.from({ length: random.below(4) }, () => [anyKey(random), anyJson(random, depth + 1)]),
  );
}

/** A name of a property, of those that scripts are attacked by, too. */
export function anyKey(random: Random): string {
  return random.chance(0.8) ? random.pick(keys) : anyText(random);
}

/** Mostly short; now and then as long as no schema allows. */
export function lengthOf(random: Random): number {
  if (random.chance(0.999)) return random.below(5);
  return random.pick([17, 65, 129, 1000, random.chance(0.1) ? 20_000 : 200]);
}

/** The JSON text of a value, with deeply nested parts written out. */
export function textOf(value: unknown, random: Random): string {
  const text = JSON.stringify(value);
  const mark = JSON.stringify(deepMark);
  if (!text.includes(mark)) return text;
  const depth = random.pick([50, 101, 600, 3000, 20_000]);
  const [open, close] = random.pick([
    ['[', ']'],
    ['{"a":', '}'],
    ['{"rules":[', ']}'],
    ['{"__proto__":', '}'],
  ] as const);
  return text.replaceAll(mark, () => `${open.repeat(depth)}1${close.repeat(depth)}`);
}
