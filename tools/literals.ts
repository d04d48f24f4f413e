/** A string or template literal of a source. */
export interface Literal {
  /** The source text without the quotes and without escapes of quotes. Expressions of a template are `${…}`. */
  readonly text: string;
  /** The code that precedes it on the same line. */
  readonly before: string;
}

/** A slash after these starts a regular expression. */
const beforeExpression = /(?:[(,=:[!&|?{};+<>]|=>|\breturn|\btypeof)\s*$/;

/** The literals of TypeScript code, in order. Literals inside the expressions of a template follow it. */
export function literalsOf(code: string): readonly Literal[] {
  const found: Literal[] = [];
  let position = 0;
  while (position < code.length) {
    const rest = code.slice(position, position + 2);
    const lineStart = code.lastIndexOf('\n', position - 1) + 1;
    const before = code.slice(lineStart, position);
    const character = code[position] ?? '';
    if (rest === '//') position = endOr(code.indexOf('\n', position), code);
    else if (rest === '/*') position = endOr(code.indexOf('*/', position), code) + 2;
    else if (character === '/' && beforeExpression.test(code.slice(Math.max(0, position - 40), position)))
      position = afterExpression(code, position);
    else if (character === "'" || character === '"') {
      const end = afterQuote(code, position, character);
      found.push({ text: unescaped(code.slice(position + 1, end - 1)), before });
      position = end;
    } else if (character === '`') {
      const end = afterTemplate(code, position);
      const text = code.slice(position + 1, end - 1);
      found.push(
        { text: unescaped(text), before },
        ...expressionsOf(text).flatMap((expression) => literalsOf(expression)),
      );
      position = end;
    } else position += 1;
  }
  return found;
}

function endOr(position: number, code: string): number {
  return position === -1 ? code.length : position;
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(['"`])/g, '$1');
}

function afterQuote(code: string, start: number, quote: string): number {
  let position = start + 1;
  while (position < code.length && code[position] !== quote) position += code[position] === '\\' ? 2 : 1;
  return position + 1;
}

function afterExpression(code: string, start: number): number {
  let inSet = false;
  let position = start + 1;
  for (; position < code.length && (inSet || code[position] !== '/'); position += 1) {
    if (code[position] === '\\') position += 1;
    else if (code[position] === '[') inSet = true;
    else if (code[position] === ']') inSet = false;
  }
  return position + 1;
}

function afterTemplate(code: string, start: number): number {
  let position = start + 1;
  while (position < code.length && code[position] !== '`') {
    if (code[position] === '\\') position += 2;
    else if (code.startsWith('${', position)) position = afterBraces(code, position + 1);
    else position += 1;
  }
  return position + 1;
}

/** The position after the brace that closes the one at `start`. */
function afterBraces(code: string, start: number): number {
  let depth = 0;
  let position = start;
  while (position < code.length) {
    const character = code[position] ?? '';
    if (character === "'" || character === '"') position = afterQuote(code, position, character);
    else if (character === '`') position = afterTemplate(code, position);
    else {
      position += 1;
      if (character === '{') depth += 1;
      if (character === '}') depth -= 1;
      if (depth === 0) return position;
    }
  }
  return position;
}

/** The code of each `${…}` of a template. */
function expressionsOf(template: string): readonly string[] {
  const found: string[] = [];
  let position = template.indexOf('${');
  while (position !== -1) {
    const end = afterBraces(template, position + 1);
    found.push(template.slice(position + 2, end - 1));
    position = template.indexOf('${', end);
  }
  return found;
}
