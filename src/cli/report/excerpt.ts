import type { Position } from '../../files/document.ts';

// Control and format characters, line separators, lone surrogates: a file must not write to the reader's terminal.
const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** A text in which everything invisible is a blank, one for each. */
function visible(text: string): string {
  return text.replace(unsafe, ' ');
}

// What terminals show two columns wide, and what they show on top of what precedes it.
const wide = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{Emoji_Presentation}\uFF01-\uFF60]/gu;
const combining = /\p{M}/gu;

/** How many columns of a terminal a text takes. */
function columnsOf(text: string): number {
  return Array.from(text).length + (text.match(wide)?.length ?? 0) - (text.match(combining)?.length ?? 0);
}

/** How many characters of a line are shown. */
const width = 120;
/** How many of them precede the place, where the line is longer. */
const lead = 60;

/**
 * A line of a file as `  12 | text`, and below it a caret at the column. Of a long line the part around the column is shown.
 *
 * @param text the line, without its end
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
