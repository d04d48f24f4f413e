import type { Effect, Profile } from './rule.ts';

/** The three ways in which defensive rules act on admission. `audit` never interferes. */
type Effects = Readonly<Record<Profile, Effect>>;

/** Wrong whatever other objects exist, and no valid use is known. */
export const denied: Effects = { audit: 'record', standard: 'deny', strict: 'deny' };

/** Wrong by the text of the specification, but defined, or used in practice. */
export const deniedWhenStrict: Effects = { audit: 'record', standard: 'warn', strict: 'deny' };
