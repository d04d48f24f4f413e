/**
 * Writes docs/reference/messages.md, the list of the texts that users can see, from the sources:
 *
 *   node tools/messages.ts
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { literalsOf } from './literals.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const target = join(root, 'docs/reference/messages.md');

/** The sources of texts for users: a heading, and the files and folders below it. */
const sections: readonly (readonly [heading: string, sources: readonly string[]])[] = [
  ['Findings', ['src/core/rules', 'src/core/admission']],
  [
    'Parts of findings: values and structure',
    [
      'src/core/text/duration.ts',
      'src/core/text/hostname.ts',
      'src/core/text/ip-address.ts',
      'src/core/text/path.ts',
      'src/core/text/selector.ts',
      'src/core/patterns/syntax.ts',
      'src/core/patterns/reader.ts',
      'src/core/patterns/pattern.ts',
      'src/core/schema/messages.ts',
      'src/core/schema/unknown-field.ts',
      'src/core/schema/served.ts',
      'src/core/schema/settle.ts',
      'src/core/resources/parse.ts',
      'src/core/graph/parameters.ts',
    ],
  ],
  ['Conditions', ['src/core/status']],
  ['Controller and data planes', ['src/controller', 'src/certificates', 'src/channel']],
  ['Webhook', ['src/webhook']],
  ['Command line', ['src/cli', 'src/core/preflight']],
];

const preface = `<!-- Written by tools/messages.ts; edit the sources instead. -->
# Messages

Every text that Sallyport can show: findings of admission, conditions, Events, and the output of commands. A value in braces stands for
what the program fills in. The list follows the source files. Use it to review wording in one place; [CONTRIBUTING](../../CONTRIBUTING.md#words)
has the vocabulary.`;

/** Three or more words, the first of which is not code. */
function isProse(text: string): boolean {
  const plain = text.replaceAll(/\$\{[^}]*\}/g, 'x');
  return (
    /[A-Za-z][a-z]* [a-zA-Z"(]?/.test(plain) &&
    plain.split(' ').length >= 3 &&
    !/^[\w-]+\/|^\s|=>|^-|^kubectl /.test(plain)
  );
}

/** The distinct texts of a source, in order. Skips references of rules to the specification, which are not messages. */
function messagesIn(source: string): readonly string[] {
  return [
    ...new Set(
      literalsOf(source)
        .filter(({ before }) => !/(?:source|from|import|kinds):? $|\b(?:import|throw new Error\()\s*$/.test(before))
        .map(({ text }) => text)
        .filter(isProse),
    ),
  ];
}

function filesBelow(path: string): readonly string[] {
  if (path.endsWith('.ts')) return [path];
  return readdirSync(join(root, path), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .toSorted()
    .map((name) => `${path}/${name}`);
}

/** Replaces the expressions of a template by braces, and escapes Markdown. */
function shown(text: string): string {
  return `\`${text
    .replaceAll('${', '{')
    .replaceAll('`', "'")
    .replaceAll('\n', String.raw`\n`)}\``;
}

/** The page as Markdown. */
export function messagesPage(): string {
  const parts = sections.map(([heading, sources]) => {
    const files = sources
      .flatMap((source) => filesBelow(source))
      .flatMap((file) => {
        const messages = messagesIn(readFileSync(join(root, file), 'utf8'));
        return messages.length === 0
          ? []
          : [`### ${file.replace('src/', '')}\n\n${messages.map((message) => `- ${shown(message)}\n`).join('')}`];
      });
    return `## ${heading}\n\n${files.join('\n')}`;
  });
  return `${preface}\n\n${parts.join('\n')}`;
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, messagesPage());
  console.log('docs/reference/messages.md');
}
