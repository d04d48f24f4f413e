import type { Position } from '../../files/document.ts';

// Control and format characters, line separators, lone surrogates: a file must not control the reader's terminal.
const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Replaces each invisible character by a blank. */
function visible(text: string): string {
  return text.replace(unsafe, ' ');
}

// Characters that terminals show in two columns, and those that combine with the preceding one.
const wide = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{Emoji_Presentation}\uFF01-\uFF60]/gu;
const combining = /\p{M}/gu;

/** Number of terminal columns of a text. */
function columnsOf(text: string): number {
  return Array.from(text).length + (text.match(wide)?.length ?? 0) - (text.match(combining)?.length ?? 0);
}

/** Maximum characters shown of a line. */
const width = 120;
/** Number of these before the column, if the line is longer. */
const lead = 60;

/**
 * Formats a line of a file as `  12 | text`, with a caret below the column. It shows only the part of a long line around the column.
 *
 * @param text the line, without its line end
 */
export function excerpt(text: string, { line, column }: Position): readonly [string, string] {
  const from = text.length <= width ? 0 : Math.max(0, Math.min(column - 1 - lead, text.length - width));
  const number = String(line).padStart(4);
  const opening = from === 0 ? '' : '…';
  const closing = from + width < text.length ? '…' : '';
  const before = opening + visible(text.slice(from, column - 1));
  return [
    `${number} | ${before}${visible(text.slice(column - 1, from + width))}${closing}`.trimEnd(),
    `${' '.repeat(number.length)} | ${' '.repeat(columnsOf(before))}^`,
  ];
}
