// JSON.stringify escapes only C0 controls and lone surrogates. The others are valid in JSON, but can control a terminal.
const raw = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * Serializes a value as JSON without raw control characters, format characters (such as bidirectional overrides) or line separators.
 * `JSON.parse` returns the same value.
 *
 * @param indent spaces for each level; 0: one line
 */
export function jsonText(value: unknown, indent = 0): string {
  return JSON.stringify(value, undefined, indent).replace(raw, escapeCodeUnits);
}

/** Escapes each UTF-16 code unit, as `\u202e`. */
function escapeCodeUnits(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}
