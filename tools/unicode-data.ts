/**
 * Writes src/core/patterns/unicode-data.ts: general categories, scripts and simple case folding of Unicode, from the RegExp of this Node
 * version. Run it when the version of Unicode changes: `node tools/unicode-data.ts`.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scriptNames } from './unicode-scripts.ts';

const last = 0x10_ff_ff;
const categories = [
  'Lu',
  'Ll',
  'Lt',
  'Lm',
  'Lo',
  'Mn',
  'Mc',
  'Me',
  'Nd',
  'Nl',
  'No',
  'Pc',
  'Pd',
  'Ps',
  'Pe',
  'Pi',
  'Pf',
  'Po',
  'Sm',
  'Sc',
  'Sk',
  'So',
  'Zs',
  'Zl',
  'Zp',
  'Cc',
  'Cf',
  'Cs',
  'Co',
];

/** All code points in order. Surrogates are separate. */
const everything = Array.from({ length: last + 1 }, (_, code) => String.fromCodePoint(code));

/** Runs of code points with the same value: the length and the value of each (0: none), in base 36, one word per run. */
function runsOf(property: 'gc' | 'sc', names: readonly string[]): string {
  const tests = names.map((name) => new RegExp(`^\\p{${property}=${name}}$`, 'u'));
  const runs: { length: number; value: number }[] = [];
  let recent = 0;
  for (const character of everything) {
    const found = tests[recent]?.test(character) === true ? recent : tests.findIndex((test) => test.test(character));
    if (found !== -1) recent = found;
    const run = runs.at(-1);
    if (run?.value === found + 1) run.length += 1;
    else runs.push({ length: 1, value: found + 1 });
  }
  return runs.map(({ length, value }) => `${length.toString(36)}.${value.toString(36)}`).join(' ');
}

/** Each code point that has others with the same simple case folding: its distance from the one before, and to the next of its cycle. */
function foldsOf(): string {
  const circles = new Map<string, Set<string>>();
  for (const character of everything) {
    const near = new Set([
      character,
      character.toLowerCase(),
      character.toUpperCase(),
      character.toUpperCase().toLowerCase(),
      character.toLowerCase().toUpperCase(),
    ]);
    for (const other of near) {
      if (other === character || Array.from(other).length !== 1 || !equalFold(character, other)) continue;
      const members = [...(circles.get(character) ?? [character]), ...(circles.get(other) ?? [other])];
      const circle = new Set(members);
      for (const member of circle) circles.set(member, circle);
    }
  }
  let before = 0;
  return [...circles.keys()]
    .map(codeOf)
    .sort((left, right) => left - right)
    .map((code) => {
      const circle = [...(circles.get(String.fromCodePoint(code)) ?? [])]
        .map(codeOf)
        .sort((left, right) => left - right);
      const next = circle[(circle.indexOf(code) + 1) % circle.length] ?? code;
      const word = `${(code - before).toString(36)}.${(next - code).toString(36)}`;
      before = code;
      return word;
    })
    .join(' ');
}

function equalFold(one: string, other: string): boolean {
  return new RegExp(`^\\u{${codeOf(one).toString(16)}}$`, 'iu').test(other);
}

function codeOf(character: string): number {
  return character.codePointAt(0) ?? 0;
}

/** Splits a long text into lines of code. */
function literal(text: string): string {
  const lines = text.match(/.{1,150}(?: |$)/g) ?? [];
  return lines.map((line) => `  '${line}'`).join(' +\n');
}

const file = join(import.meta.dirname, '../src/core/patterns/unicode-data.ts');
writeFileSync(
  file,
  `// Made by tools/unicode-data.ts of Unicode ${process.versions['unicode'] ?? ''}.

/** Names of general categories; their places in it, from 1, are the values of \`categoryRuns\`. */
export const categoryNames: readonly string[] = '${categories.join(' ')}'.split(' ');

/** Names of scripts; their places in it, from 1, are the values of \`scriptRuns\`. */
export const scriptNames: readonly string[] = (
${literal(scriptNames.join(' '))}
).split(' ');

/** All code points from 0 on: \`length.value\` of each run with the same value (0: none), in base 36. */
export const categoryRuns =
${literal(runsOf('gc', categories))};

export const scriptRuns =
${literal(runsOf('sc', scriptNames))};

/** Code points that are equal to others but for case: the distance from the one before, and that to the next of the circle, in base 36. */
export const foldSteps =
${literal(foldsOf())};
`,
);
