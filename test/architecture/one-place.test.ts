import { describe, expect, test } from '@jest/globals';
import { fieldDefaults } from '../../src/core/schema/index.ts';
import { textOf, trackedFiles } from './sources.ts';

// Facts that one place of the sources decides. Each test finds code that decides such a fact a second time.

const sources = trackedFiles().filter((file) => file.startsWith('src/') && file.endsWith('.ts'));

/** The lines with a match, as `file: match`. */
function found(files: readonly string[], form: RegExp): readonly string[] {
  return files.flatMap((file) =>
    textOf(file)
      .split('\n')
      .filter((line) => !/^\s*(?:\/\/|\/?\*)/.test(line))
      .flatMap((line) => [...line.matchAll(new RegExp(form, 'g'))].map(([text]) => `${file}: ${text}`)),
  );
}

/** The values of nested defaults, without empty texts. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return value === '' ? [] : [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

describe('defaults of fields', () => {
  const tables = sources.filter((file) => file.startsWith('src/core/schema/tables/'));
  const others = sources.filter((file) => !file.startsWith('src/core/schema/'));
  const values = textsIn(fieldDefaults).map((text) => text.replaceAll('.', String.raw`\.`));

  test('are found at all', () => {
    expect(tables.length).toBeGreaterThan(20);
    expect(values).toEqual(expect.arrayContaining(['PathPrefix', 'Secret', '10s']));
  });

  test('come from field-defaults.ts in the tables', () => {
    expect(found(tables, /\bdefault: (?:since\([^,]*, )?[[{ ]*(?:\w+: [[{ ]*)*'[^']*'/)).toEqual([]);
  });

  test('come from field-defaults.ts in code that reads fields without them', () => {
    expect(found(others, new RegExp(`(?:\\?\\? |[{,(] ?\\w+ = )'(?:${values.join('|')})'`))).toEqual([]);
  });
});

test('the values of fields that are not written come from semantics/intended.ts', () => {
  const users = sources.filter((file) => /\bfieldDefaults\b/.test(textOf(file)));
  const elsewhere = users.filter((file) => !file.startsWith('src/core/schema/'));
  expect(elsewhere).toEqual(['src/core/semantics/intended.ts']);
});

test('default numbers of fields come from field-defaults.ts', () => {
  const core = sources.filter((file) => file.startsWith('src/core/') && !file.startsWith('src/core/schema/'));
  const fields = 'weight|denominator|statusCode|maxAge|attempts';
  expect(found(core, new RegExp(String.raw`\b(?:${fields})(?: =| \?\?) -?[0-9]+`))).toEqual([]);
});

describe('reasons of conditions', () => {
  const reason = /\b(?:reason|refusal): '[A-Z]\w+'|\bisFalse\(|\bisUnknown\(/;
  const inFolder = (folder: string): readonly string[] =>
    found(
      sources.filter((file) => file.startsWith(folder)),
      reason,
    );

  test('are decided by rules and status, not by graph and routing', () => {
    expect(inFolder('src/core/status/').length).toBeGreaterThan(10);
    expect(inFolder('src/core/routing/')).toEqual([]);
    // The type of what the controller decides.
    expect(inFolder('src/core/graph/')).toEqual(["src/core/graph/inputs.ts: reason: 'AddressNotUsable'"]);
  });

  test('are decided by the controller only for addresses and data planes', () => {
    const decided = new Set(inFolder('src/controller/').map((line) => line.split("'")[1]));
    const conditions = ['AddressNotAssigned', 'AddressNotUsable', 'NameConflict', 'NoResources'];
    const events = ['DataPlaneChanged', 'ServiceNotWritten', 'StatusContested', 'StatusFull'];
    expect(decided).toEqual(new Set([...conditions, ...events]));
  });
});

describe('text that is compared without case', () => {
  const lowerCased = /\b(?:host|hostname|authority|serverName|servername|dnsName)\??\.toLowerCase\(/;

  test('hostnames are in lower case by hostnameKey', () => {
    expect(found(sources, lowerCased)).toEqual(['src/core/text/hostname.ts: hostname.toLowerCase(']);
  });
});

test('default ports of URLs are in text/origin.ts', () => {
  expect(found(sources, /(?<![\w.-])(?:80|'80')[^0-9]+443\b|\b443[^0-9]+80(?![\w.-])/)).toEqual([
    'src/core/text/origin.ts: 80, https: 443',
  ]);
});

test('only src/time reads the time', () => {
  const files = sources.filter((file) => !/^src\/(?:time\/|files\/watch\.ts)/.test(file));
  expect(found(files, /\bperformance\.now\b|\bDate\.now\b|\bnew Date\(\)|\bhrtime\b/)).toEqual([]);
});

test('values are compared by deepEqual, and JSON of any order by sameJson', () => {
  expect(found(sources, /isDeepStrictEqual/)).toEqual([]);
});

test('private members are declared with the keyword private', () => {
  const files = trackedFiles().filter((file) => /^(?:src|test|tools)\/.*\.ts$/.test(file));
  expect(found(files, /^\s+(?:(?:readonly|static|async|get|set) |\*)*#\w+/)).toEqual([]);
});

describe('keys of objects', () => {
  // Each codec has both directions in one file: reference.ts for kind, namespace and name, the others for keys of their own.
  test('are written by resources/reference.ts', () => {
    const template = /`(?:\$\{(?:[\w.]+\.)?kind\}\/)?\$\{(?:[\w.]+\.)?namespace\}\/\$\{(?:[\w.]+\.)?name\}`/;
    const list = /\[(?:(?:[\w.]+\.)?kind, )?(?:[\w.]+\.)?namespace, (?:[\w.]+\.)?name\]\.join\('\/'\)/;
    expect(found(sources, template)).toEqual([]);
    expect(new Set(found(sources, list).map((line) => line.split(':')[0]))).toEqual(
      new Set(['src/core/resources/reference.ts']),
    );
  });

  test('are read where they are written', () => {
    const files = new Set(found(sources, /\.split\('\/'\)/).map((line) => line.split(':')[0]));
    const keys = ['resources/reference.ts', 'graph/backends/backend-object.ts', 'routing/listener-key.ts'];
    const paths = ['text/path.ts', 'routing/tier.ts', 'schema/locate.ts', 'rules/matches/taken-requests.ts'];
    const labels = ['rules/objects/qualified-key.ts'];
    const inputs = ['src/cli/impact.ts', 'src/proxy/upstream/external-names.ts'];
    expect(files).toEqual(new Set([...[...keys, ...paths, ...labels].map((file) => `src/core/${file}`), ...inputs]));
  });
});

// V8 makes a hidden class for the generators of each generator function, outside the young generation. It refers to the function,
// so one that is created for each review retains all objects of the review until a full collection of garbage.
test('generator functions are created once, not inside other functions', () => {
  expect(found(sources, /^(?!(?:export )?(?:default )?(?:async )?function\*).*\bfunction ?\*.*/)).toEqual([]);
});
