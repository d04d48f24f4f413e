import { describe, expect, jest, test } from '@jest/globals';
import * as fc from 'fast-check';
import { formatProblem } from '../../../src/files/document.ts';
import { parseDocuments, parseInSteps } from '../../../src/files/parse.ts';

function values(text: string): unknown[] {
  return parseDocuments(text, 'f.yaml').documents.map(({ value }) => value);
}

function problems(text: string): string[] {
  return parseDocuments(text, 'f.yaml').problems.map(formatProblem);
}

describe('documents', () => {
  test('several in a file, empty ones left out', () => {
    const text = '# licence\n---\na: 1\n---\n---\n# nothing\n---\nnull\n--- # the last\nb: 2\n...\n';
    const { documents, problems } = parseDocuments(text, 'f.yaml');
    expect(documents.map(({ file, index, line, value }) => ({ file, index, line, value }))).toEqual([
      { file: 'f.yaml', index: 0, line: 3, value: { a: 1 } },
      { file: 'f.yaml', index: 1, line: 10, value: { b: 2 } },
    ]);
    expect(problems).toEqual([]);
  });

  test('each in a step, so that a process can do other work in between', () => {
    const steps = parseInSteps('a: 1\n---\nb: 2\n---\nc: 3\n', 'f.yaml');
    for (let step = 0; step < 3; step += 1) expect(steps.next()).toEqual({ done: false, value: undefined });
    expect(steps.next()).toMatchObject({ done: true, value: { documents: [{}, {}, {}] } });
  });

  test('a file of nothing is no error', () => {
    for (const text of ['', '\n', '---\n', '# comment', '---\n---\n', '\uFEFF']) {
      expect(parseDocuments(text, 'f.yaml')).toEqual({ documents: [], problems: [] });
    }
  });

  test('JSON, indented by tabs too', () => {
    const value = { kind: 'A', list: [1, { 'a/b': null, text: '😀 "quoted" \\ /' }] };
    expect(values(JSON.stringify(value, null, '\t'))).toEqual([value]);
    expect(values(JSON.stringify(value))).toEqual([value]);
    expect(values('{"a": "\\ud83d\\ude00\\/"}')).toEqual([{ a: '😀/' }]);
  });

  test('byte order mark, CRLF, directives and markers', () => {
    expect(values('\uFEFFa: 1\r\n---\r\nb: |\r\n  x\r\n')).toEqual([{ a: 1 }, { b: 'x\n' }]);
    expect(values('%YAML 1.2\n---\na: 1\n...\n%YAML 1.2\n# c\n---\nb: 2\n...\nc: 3\n')).toEqual([
      { a: 1 },
      { b: 2 },
      { c: 3 },
    ]);
    expect(values('--- {a: 1}\n--- {b: ---}\n---\nc: |\n  ---\n  ...\n')).toEqual([
      { a: 1 },
      { b: '---' },
      { c: '---\n...\n' },
    ]);
  });

  test.each([
    ['before the marker', '\uFEFF---\na: 1\n', [{ a: 1 }]],
    ['after the marker', '---\n\uFEFFa: 1\n', [{ a: 1 }]],
    ['before and after the marker', '\uFEFF---\n\uFEFFa: 1\n', [{ a: 1 }]],
    ['after a comment and an empty line', '---\n# c\n\n\uFEFFa: 1\n', [{ a: 1 }]],
    ['before a directive', '\uFEFF%YAML 1.2\n---\na: 1\n', [{ a: 1 }]],
    ['of the second of two files', 'a: 1\n\uFEFF---\nb: 2\n', [{ a: 1 }, { b: 2 }]],
    ['of the second of two files, joined by a marker', 'a: 1\n---\n\uFEFF# c\nb: 2\n', [{ a: 1 }, { b: 2 }]],
    ['within text', 'a: "x\uFEFFy"\nb: |\n  \uFEFFz\n', [{ a: 'x\uFEFFy', b: '\uFEFFz\n' }]],
  ])('a byte order mark %s', (_case, text, expected) => {
    expect(values(text)).toEqual(expected);
    expect(problems(text)).toEqual([]);
  });

  test('places behind a byte order mark are where editors show them', () => {
    const [document] = parseDocuments('---\n\uFEFFa: {b: 1}\nc: 2\n', 'f.yaml').documents;
    expect([document?.line, document?.locate(['a', 'b']), document?.locate(['c'])]).toEqual([
      2,
      { line: 2, column: 5 },
      { line: 3, column: 1 },
    ]);
  });

  test('a byte order mark in the middle of a document is an error at its place', () => {
    expect(problems('a: 1\n\uFEFFb: 2\n---\nc: 3\n')).toEqual([
      'f.yaml:2:1: a byte order mark (U+FEFF) begins this line in the middle of a document. Remove it. If two files were joined here, write a line --- between them.',
    ]);
    expect(values('a: 1\n\uFEFFb: 2\n---\nc: 3\n')).toEqual([{ c: 3 }]);
  });

  test('merge keys and aliases', () => {
    expect(values('a: &a {x: 1}\nb: {<<: *a, y: 2}\nc: *a\n')).toEqual([
      { a: { x: 1 }, b: { x: 1, y: 2 }, c: { x: 1 } },
    ]);
  });

  test('keys named like members of Object are ordinary', () => {
    const [value] = values('__proto__: {polluted: 1}\nconstructor: 2\n');
    expect(JSON.stringify(value)).toBe('{"__proto__":{"polluted":1},"constructor":2}');
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });
});

describe('lists', () => {
  const text = [
    'apiVersion: v1',
    'kind: List',
    'items:',
    '- kind: A',
    '  spec:',
    '    port: 1',
    '- apiVersion: v1',
    '  kind: BList',
    '  items:',
    '    - {kind: B, spec: {port: 2}}',
    '    - kind: B',
    '- 5',
    '',
  ].join('\n');

  test('are expanded, lists in lists too, with the place of each item', () => {
    const { documents, problems } = parseDocuments(text, 'f.yaml');
    expect(documents.map(({ index, line, value }) => ({ index, line, value }))).toEqual([
      { index: 0, line: 4, value: { kind: 'A', spec: { port: 1 } } },
      { index: 1, line: 10, value: { apiVersion: 'v1', kind: 'B', spec: { port: 2 } } },
      { index: 2, line: 11, value: { apiVersion: 'v1', kind: 'B' } },
    ]);
    expect(documents.map((document) => document.locate(['spec', 'port']))).toEqual([
      { line: 6, column: 5 },
      { line: 10, column: 24 },
      { line: 11, column: 7 },
    ]);
    expect(problems.map(formatProblem)).toEqual(['f.yaml:12:3: expected an object with apiVersion and kind, found 5']);
  });

  test('whose items come through an alias are located at the list', () => {
    const { documents } = parseDocuments('x: &x [{kind: A}]\nkind: List\nitems: *x\n', 'f.yaml');
    expect(documents.map(({ line, value, locate }) => ({ line, value, kind: locate(['kind']) }))).toEqual([
      { line: 3, value: { kind: 'A' }, kind: { line: 3, column: 1 } },
    ]);
  });

  test('of one kind need not name it in each item', () => {
    expect(values('apiVersion: x/v1\nkind: AList\nitems: [{ metadata: {} }, { apiVersion: y/v1, kind: B }]\n')).toEqual(
      [
        { apiVersion: 'x/v1', kind: 'A', metadata: {} },
        { apiVersion: 'y/v1', kind: 'B' },
      ],
    );
  });

  test('without items, or of a kind that only sounds like one, are left alone', () => {
    expect(values('kind: List\n')).toEqual([{ kind: 'List' }]);
    expect(values('kind: AllowList\nitems: none\n')).toEqual([{ kind: 'AllowList', items: 'none' }]);
    expect(values('kind: Listing\nitems: [{}]\n')).toEqual([{ kind: 'Listing', items: [{}] }]);
    expect(values('kind: List\nitems: []\n')).toEqual([]);
  });

  test('of many items are read in one go', () => {
    const count = 20_000;
    const items = Array.from({ length: count }, (_, index) => `- kind: A\n  n: ${index}\n`).join('');
    const { documents } = parseDocuments(`kind: List\nitems:\n${items}`, 'f.yaml');
    expect(documents.map(({ locate }) => locate(['n']).line)).toEqual(
      Array.from({ length: count }, (_, index) => 4 + 2 * index),
    );
  });

  // Each search reads the rest of the line, which may be the whole file.
  test('of many items in one line are located without further searches for line ends', () => {
    const items = Array.from({ length: 100 }, () => '{kind: List, items: [{kind: A}]}');
    const text = `{kind: List, items: [${items.join(',')}]}`;
    const { documents } = parseDocuments(text, 'f.yaml');
    const searches = jest.spyOn(String.prototype, 'indexOf');
    try {
      expect(documents.map(({ locate }) => locate(['kind']).line)).toEqual(items.map(() => 1));
      expect(searches.mock.calls.filter(([searched]) => searched === '\n')).toHaveLength(0);
    } finally {
      searches.mockRestore();
    }
  });
});

describe('locate', () => {
  const text = [
    '---',
    '# a route',
    'kind: HTTPRoute',
    'spec:',
    '  rules:',
    '  - name: one',
    "    'filters': [{type: A}, {type: B}]",
    '  -',
    '    matches: &m',
    '    - path:',
    '        value: |',
    '          /x',
    '  - matches: *m',
    '    empty:',
    '    list:',
    '    -',
  ].join('\n');

  test.each<[(string | number)[], number, number]>([
    [[], 3, 1],
    [['kind'], 3, 1],
    [['spec', 'rules'], 5, 3],
    [['spec', 'rules', 0], 6, 5],
    [['spec', 'rules', 0, 'name'], 6, 5],
    [['spec', 'rules', 0, 'filters', 1], 7, 28],
    [['spec', 'rules', 0, 'filters', 1, 'type'], 7, 29],
    [['spec', 'rules', 1, 'matches', 0, 'path', 'value'], 11, 9],
    [['spec', 'rules', 2, 'matches', 0, 'path'], 13, 5],
    [['spec', 'rules', 2, 'empty', 'x'], 14, 5],
    [['spec', 'rules', 2, 'list', 0], 15, 5],
    [['spec', 'rules', 7], 5, 3],
    [['spec', 'rules', 'name'], 5, 3],
    [['spec', 0], 4, 1],
    [['metadata', 'name'], 3, 1],
    [['kind', 'x', 0], 3, 1],
  ])('%j is at %i:%i', (path, line, column) => {
    expect(parseDocuments(text, 'f.yaml').documents[0]?.locate(path)).toEqual({ line, column });
  });
});

test.each([
  ['- op: replace\n  path: /spec\n', [{ op: 'replace', path: '/spec' }]],
  ['[]', []],
])('a list of what is no object, such as a JSON patch, is no mistake: %j', (text, value) => {
  expect(parseDocuments(text, 'f.yaml')).toMatchObject({ documents: [{ value, line: 1 }], problems: [] });
});

test('a key that would mean something else by itself is no trouble', () => {
  const [document] = parseDocuments('? ...\n  ]\n: 1\n', 'f.yaml').documents;
  expect(document?.locate(['a'])).toEqual({ line: 1, column: 1 });
});

describe('locate, whatever the form of keys', () => {
  const text = String.raw`{"plain": {"in": 1}, "esc\u0061ped": {"in": 2},
 'it''s': {"in": 3}, 'quo"ted': {"in": 4}, "": {"in": 5}}
---
? two
  words
: {in: 6}
`;

  test.each<[number, string, number, number]>([
    [0, 'plain', 1, 12],
    [0, 'escaped', 1, 39],
    [0, "it's", 2, 12],
    [0, 'quo"ted', 2, 34],
    [0, '', 2, 49],
    [0, 'quo', 1, 1],
    [1, 'two words', 6, 4],
    [1, 'two', 4, 1],
  ])('document %i, key %j: %i:%i', (document, key, line, column) => {
    expect(parseDocuments(text, 'f.yaml').documents[document]?.locate([key, 'in'])).toEqual({ line, column });
  });

  test('a key with escapes is found again', () => {
    const [document] = parseDocuments(text, 'f.yaml').documents;
    const find = () => document?.locate(['escaped', 'in']);
    expect(find()).toEqual({ line: 1, column: 39 });
    expect(find()).toEqual({ line: 1, column: 39 });
  });

  test('lines are known in whatever order they are asked for', () => {
    const [document] = parseDocuments('a: 1\nb:\n- x: 2\n- y: 3\n', 'f.yaml').documents;
    expect([['b', 1, 'y'], ['a'], ['b', 0]].map((path) => document?.locate(path).line)).toEqual([4, 1, 3]);
    expect([4, 1, 3, 5, 0].map((line) => document?.textOf(line))).toEqual(['- y: 3', 'a: 1', '- x: 2', '', '']);
  });
});

describe('broken documents', () => {
  test.each([
    ['a: 1\nb: 2\na: 3\n', 3, 1, 'duplicate key "a" in one object; keep one of them'],
    ['{"k": 1,\n "k": 2}', 2, 2, 'duplicate key "k" in one object; keep one of them'],
    ["x: {'a: b': 1, 'a: b': 2}", 1, 16, 'duplicate key "a: b" in one object; keep one of them'],
    ['a:\n\tb: 1\n', 2, 1, 'the line is indented with a tab; use spaces, YAML forbids tabs here'],
    ['a: [1, 2\nb: 3\n', 2, 1, 'invalid YAML: deficient indentation'],
    ['a: 1\n  b: 2\n', 2, 4, 'invalid YAML: bad indentation of a mapping entry'],
    ['a: *x\n', 1, 5, 'invalid YAML: unidentified alias "x"'],
    [
      'a: {{- if .Values.x }}\n',
      1,
      6,
      'invalid YAML: missed comma between flow collection entries; if this is a template, render it first, e.g. helm template . | sallyport check -',
    ],
    ['a: !foo 1\n', 1, 4, 'invalid YAML: unknown scalar tag !<!foo>'],
    ['[a, b]\n', 1, 1, 'expected an object with apiVersion and kind, found a list'],
    ['- kind: A\n', 1, 1, 'expected an object with apiVersion and kind, found a list'],
    ['hello\n', 1, 1, 'expected an object with apiVersion and kind, found "hello"'],
    ['a:\n  b: .inf\n', 2, 3, 'invalid number Infinity: use a finite number, or quote it as a string'],
    ['a:\n  b: &x [*x]\n', 2, 10, 'an alias refers to the object that contains it; write the value out'],
    [`a: ${'['.repeat(101)}${']'.repeat(101)}`, 1, 103, 'the document is nested deeper than 100 levels'],
  ])('%j is reported at %i:%i', (broken, line, column, message) => {
    expect(problems(broken)).toEqual([`f.yaml:${line}:${column}: ${message}`]);
    const { documents, problems: found } = parseDocuments(`a: 0\n---\n${broken}\n---\nz: 1\n`, 'f.yaml');
    expect(documents.map(({ value, line }) => [value, line])).toEqual([
      [{ a: 0 }, 1],
      [{ z: 1 }, broken.split('\n').length + 4],
    ]);
    expect(found.map(({ position, severity }) => [position?.line, severity])).toEqual([[line + 2, 'error']]);
  });

  test.each([
    ['tag', `a: !!${'b'.repeat(1_000)} x\n`],
    ['alias', `a: *${'b'.repeat(1_000)}\n`],
  ])('a message with a long %s is shortened', (_name, broken) => {
    const [problem] = problems(broken);
    expect(problem).toMatch(/invalid YAML: .*b…$/);
    expect(problem?.length).toBeLessThan(250);
  });

  test('millions of comments before a byte order mark', () => {
    const { documents, problems: found } = parseDocuments(`${'#\n'.repeat(6_000_000)}\uFEFFa: 1\n`, 'f.yaml');
    expect([documents.map(({ value }) => value), found]).toEqual([[{ a: 1 }], []]);
  });

  test('hundreds of thousands of problems of one document', () => {
    expect(problems(`a: [${'yes,'.repeat(200_000)}]\n`)).toHaveLength(200_000);
  });

  test('a text that is longer than the API server accepts is refused', () => {
    const message = 'a text of more than 3145728 characters is longer than the API server accepts; shorten it';
    expect(problems(`a: 1\nb: ${'x'.repeat(3_145_728)}\n`)).toEqual([]);
    expect(problems(`a: 1\nb: ${'x'.repeat(3_145_729)}\n`)).toEqual([`f.yaml:2:4: ${message}`]);
    expect(problems(`a: 1\n"${'x'.repeat(3_145_729)}": 1\n`)).toEqual([`f.yaml:2:2: ${message}`]);
  });

  test('a few aliases that would fill the memory are refused', () => {
    const levels = Array.from(
      { length: 9 },
      (_, level) => `l${level + 1}: &l${level + 1} [${Array(10).fill(`*l${level}`).join(', ')}]\n`,
    );
    const [problem, ...others] = problems(`l0: &l0 [x, x, x, x, x, x, x, x, x, x]\n${levels.join('')}`);
    expect(problem).toMatch(/^f\.yaml:6:1: the expanded document has more than 1000000 values/);
    expect(others).toEqual([]);
  });

  test('aliases that nest too deeply are refused, in whatever order they are written', () => {
    const chain = Array.from(
      { length: 120 },
      (_, level) => `k${level}: &a${level} [${level === 0 ? 1 : `*a${level - 1}`}]\n`,
    );
    expect(problems(chain.join(''))).toEqual([
      expect.stringMatching(/^f\.yaml:100:12: the expanded document is nested deeper than 100 levels$/),
    ]);
    const backwards = Array.from(
      { length: 5000 },
      (_, level) => `${5000 - level}: &a${level} [${level === 0 ? 1 : `*a${level - 1}`}]\n`,
    );
    expect(problems(backwards.join(''))).toHaveLength(1);
  });

  test('any text yields documents or problems, never an exception', () => {
    const piece = fc.constantFrom(
      'a',
      ': ',
      '- ',
      '\n',
      '  ',
      '---\n',
      '...\n',
      '[',
      ']',
      '{',
      '}',
      '"',
      "'",
      '&x ',
      '*x',
      '!t ',
      '|\n',
      '#',
      '%',
      ',',
      '? ',
      'kind: List\n',
      'items:\n',
      '\t',
      '\u0000',
      '\r',
      '\uFEFF',
      '<<: ',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(piece, { maxLength: 30 }).map((all) => all.join('')),
          fc.string({ unit: 'binary' }),
        ),
        (text) => {
          const { documents, problems } = parseDocuments(text, 'f');
          for (const document of documents)
            expect(document.locate(['a', 0]).line).toBeGreaterThanOrEqual(document.line);
          for (const { position } of problems) expect(position?.line).toBeGreaterThan(0);
        },
      ),
      { numRuns: 2000 },
    );
  });

  test('what JSON says is read as JSON says it', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ maxLength: 20 }), fc.jsonValue()),
        fc.constantFrom(0, 2, '\t'),
        (value, indent) => {
          const text = JSON.stringify(value, null, indent);
          const { documents, problems } = parseDocuments(text, 'f.json');
          expect(problems).toEqual([]);
          expect(documents.map(({ value }) => JSON.stringify(value))).toEqual([JSON.stringify(JSON.parse(text))]);
        },
      ),
    );
  });
});

describe('ambiguous scalars', () => {
  test.each([
    ['yes', 'yes is text here and true for kubectl; use "yes" for text, true for a boolean'],
    ['Off', 'Off is text here and false for kubectl; use "Off" for text, false for a boolean'],
    ['017', '017 is the number 17 here and 15 for kubectl; use "017" for text, 17 or 15 for a number'],
    ['1_000', '1_000 is text here and a number for kubectl; use "1_000" for text, or plain digits for a number'],
    ['0b11', '0b11 is text here and a number for kubectl; use "0b11" for text, or plain digits for a number'],
  ])('%s is warned about', (scalar, message) => {
    const { documents, problems } = parseDocuments(`a: 1\nb:\n- ${scalar}\n`, 'f.yaml');
    expect(documents).toHaveLength(1);
    expect(problems).toEqual([
      { file: 'f.yaml', severity: 'warning', position: { line: 3, column: 3 }, text: `- ${scalar}`, message },
    ]);
  });

  test('as keys too', () => {
    expect(problems('on: 1\n')).toEqual([expect.stringMatching(/^f\.yaml:1:1: on is text here and true for kubectl/)]);
  });

  test.each([
    '"yes"',
    "'017'",
    '!!str yes',
    'true',
    '17',
    '0',
    '007',
    '08',
    '12:30',
    '0x1f',
    '0o17',
    '1.5',
    '2001-01-01',
    '~',
    'yesterday',
    '_',
    '|\n  yes',
  ])('%s is not ambiguous', (scalar) => {
    expect(problems(`a: ${scalar}\n`)).toEqual([]);
  });
});
