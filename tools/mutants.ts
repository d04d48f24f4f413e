import { parseSync } from '@swc/core';

/** One small change of a source file. */
export interface Mutant {
  /** The line of the change, from 1. */
  readonly line: number;
  /** The operator in words. */
  readonly what: string;
  /** The complete changed source. */
  readonly text: string;
}

interface Edit {
  /** Offsets in bytes of UTF-8, as the parser counts. */
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  readonly what: string;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** A node of the syntax tree. Only spans and the fields in use are relied on. */
interface Node {
  readonly type: string;
  readonly span: Span;
  readonly [field: string]: unknown;
}

/** Prepended to each source, so that the span of its first byte is known: the parser continues to count from file to file. */
const probe = '0;\n';

/**
 * All mutants of a TypeScript source, in the order of their positions. Types, imports and names are not mutated.
 *
 * @throws if the source cannot be parsed
 */
export function mutantsOf(text: string): readonly Mutant[] {
  const bytes = Buffer.from(text);
  const program = parseSync(probe + text, { syntax: 'typescript', target: 'es2024' });
  const [first, ...body] = program.body as unknown as readonly Node[];
  const base = (first?.span.start ?? 0) + probe.length;
  const edits = body.flatMap((node) => [...editsBelow(node, { bytes, base })]);
  return edits
    .toSorted((one, other) => one.start - other.start)
    .map(({ start, end, replacement, what }) => ({
      line: bytes.subarray(0, start).toString().split('\n').length,
      what,
      text: Buffer.concat([bytes.subarray(0, start), Buffer.from(replacement), bytes.subarray(end)]).toString(),
    }));
}

interface Source {
  readonly bytes: Buffer;
  /** The span of the source's first byte. */
  readonly base: number;
}

const untouched: ReadonlySet<string> = new Set([
  'ImportDeclaration',
  'ExportAllDeclaration',
  'ExportNamedDeclaration',
  'TsInterfaceDeclaration',
  'TsTypeAliasDeclaration',
]);
/** Fields that contain types. */
const typeFields: ReadonlySet<string> = new Set([
  'typeAnnotation',
  'returnType',
  'typeParameters',
  'typeArguments',
  'typeParams',
  'superTypeParams',
  'implements',
]);

function* editsBelow(node: Node, source: Source): Iterable<Edit> {
  if (untouched.has(node.type)) return;
  for (const edit of operators[node.type]?.(node, source) ?? []) yield edit;
  for (const [field, value] of Object.entries(node)) {
    if (typeFields.has(field)) continue;
    for (const child of Array.isArray(value) ? value : [value]) yield* editsOfChild(child, source);
  }
}

/** List entries of the parser are nodes, or records that contain a node. */
function* editsOfChild(child: unknown, source: Source): Iterable<Edit> {
  if (typeof child !== 'object' || child === null) return;
  if (isNode(child)) yield* editsBelow(child, source);
  else for (const value of Object.values(child)) yield* editsOfChild(value, source);
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'span' in value;
}

type Operator = (node: Node, source: Source) => readonly Edit[];

const opposite: Readonly<Record<string, readonly string[]>> = {
  '===': ['!=='],
  '!==': ['==='],
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '&&': ['||'],
  '||': ['&&'],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
};

const operators: Readonly<Record<string, Operator>> = {
  BinaryExpression: otherOperator,
  IfStatement: fixedCondition,
  ConditionalExpression: fixedCondition,
  WhileStatement: (node, source) => fixedCondition(node, source).filter(({ replacement }) => replacement === 'false'),
  UnaryExpression: (node, source) =>
    node['operator'] === '!'
      ? [edit(source, node.span, textOf(source, nodeAt(node, 'argument').span), 'remove !')]
      : [],
  BooleanLiteral: (node, source) => [edit(source, node.span, String(node['value'] !== true), 'flip the constant')],
  NumericLiteral: (node, source) => [
    edit(source, node.span, String(Number(node['value']) + 1), 'add 1 to the constant'),
  ],
  ExpressionStatement: removedStatement,
  ReturnStatement: (node, source) =>
    isNode(node['argument']) ? [edit(source, node.span, 'return;', 'return nothing')] : [],
};

function otherOperator(node: Node, source: Source): readonly Edit[] {
  const [left, right, operator] = [nodeAt(node, 'left').span, nodeAt(node, 'right').span, String(node['operator'])];
  const replacements = opposite[operator] ?? [];
  const start = left.end + textOf(source, { start: left.end, end: right.start }).indexOf(operator);
  const edits = replacements.map((replacement) =>
    edit(source, { start, end: start + operator.length }, replacement, `${operator} becomes ${replacement}`),
  );
  if (operator !== '??') return edits;
  return [
    edit(source, node.span, textOf(source, left), 'remove the default'),
    edit(source, node.span, textOf(source, right), 'always the default'),
  ];
}

function fixedCondition(node: Node, source: Source): readonly Edit[] {
  const { span } = nodeAt(node, 'test');
  return ['true', 'false'].map((value) => edit(source, span, value, `the condition becomes ${value}`));
}

/** A constructor without `super` does not run at all, so its mutant proves nothing. */
function removedStatement(node: Node, source: Source): readonly Edit[] {
  const text = textOf(source, node.span);
  return text.startsWith('super') || text.startsWith("'") ? [] : [edit(source, node.span, ';', 'remove the statement')];
}

function nodeAt(node: Node, field: string): Node {
  const child = node[field];
  if (!isNode(child)) throw new Error(`${node.type} has no ${field}`);
  return child;
}

function textOf({ bytes, base }: Source, { start, end }: Span): string {
  return bytes.subarray(start - base, end - base).toString();
}

function edit({ base }: Source, { start, end }: Span, replacement: string, what: string): Edit {
  return { start: start - base, end: end - base, replacement, what };
}
