// JSON.stringify escapes C0 controls and lone surrogates only. The others are legal in JSON, and still write to a terminal.
const raw = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * JSON without raw control characters, format characters (bidirectional overrides among them) or line separators.
 * `JSON.parse` returns the value.
 *
 * @param indent spaces for each level; 0: one line
 */
export function jsonText(value: unknown, indent = 0): string {
  return JSON.stringify(value, undefined, indent).replace(raw, escapeCodeUnits);
}

/** `\u202e`, one escape for each UTF-16 code unit. */
function escapeCodeUnits(character: string): string {
  return character.split('').map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
}
