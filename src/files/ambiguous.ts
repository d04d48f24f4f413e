import { EVENT_ID, getScalarValue, SCALAR_STYLE } from 'js-yaml';
import type { Event } from 'js-yaml';

/** A scalar that has different meanings in YAML 1.2, as read here, and in kubectl's YAML 1.1. */
export interface Ambiguity {
  readonly offset: number;
  readonly message: string;
}

/** Finds the plain scalars of a document that kubectl interprets differently. */
export function findAmbiguities(text: string, events: readonly Event[]): Ambiguity[] {
  const found: Ambiguity[] = [];
  for (const event of events) {
    if (event.type !== EVENT_ID.SCALAR || event.style !== SCALAR_STYLE.PLAIN || event.tagStart !== -1) continue;
    const length = event.valueEnd - event.valueStart;
    if (length === 0 || length > longest || !openings.has(text.charCodeAt(event.valueStart))) continue;
    const message = explain(getScalarValue(text, event));
    if (message !== undefined) found.push({ offset: event.valueStart, message });
  }
  return found;
}

const longest = 40;
/** The first characters of such scalars. Most scalars need no further check. */
const openings = new Set(Array.from('yYnNoO+-0123456789', (character) => character.charCodeAt(0)));

const yes = /^(?:y|Y|yes|Yes|YES|on|On|ON)$/;
const no = /^(?:n|N|no|No|NO|off|Off|OFF)$/;
const octal = /^[-+]?0[0-7]+$/;
// Numbers in kubectl (Go's strconv.ParseInt with base 0, after underscores are removed).
const number = /^[-+]?(?:0[xX][0-9A-Fa-f_]+|0[oO][0-7_]+|0[bB][01_]+|[0-9][0-9_]*(?:\.[0-9_]*)?)$/;
// Numbers in the core schema of YAML 1.2.
const coreNumber = /^(?:0x[0-9A-Fa-f]+|0o[0-7]+|[-+]?[0-9]+(?:\.[0-9]*)?)$/;

function explain(scalar: string): string | undefined {
  if (yes.test(scalar)) return asBoolean(scalar, true);
  if (no.test(scalar)) return asBoolean(scalar, false);
  if (octal.test(scalar)) return asOctal(scalar);
  if (number.test(scalar) && !coreNumber.test(scalar)) {
    return `${scalar} is text here and a number for kubectl; use "${scalar}" for text, or plain digits for a number`;
  }
  return undefined;
}

function asOctal(scalar: string): string | undefined {
  const [here, there] = [Number(scalar), Number.parseInt(scalar, 8)];
  if (here === there) return undefined;
  return `${scalar} is the number ${here} here and ${there} for kubectl; use "${scalar}" for text, ${here} or ${there} for a number`;
}

function asBoolean(scalar: string, value: boolean): string {
  return `${scalar} is text here and ${value} for kubectl; use "${scalar}" for text, ${value} for a boolean`;
}
