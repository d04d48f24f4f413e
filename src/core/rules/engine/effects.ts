import type { Effect, Profile } from './rule.ts';

/** The ways in which rules act on admission. `audit` never interferes. */
export type Effects = Readonly<Record<Profile, Effect>>;

/** Wrong whatever other objects exist, and no valid use is known. */
export const denied: Effects = { audit: 'record', standard: 'deny', strict: 'deny' };

/** Wrong by the text of the specification, but defined, or used in practice. */
export const deniedWhenStrict: Effects = { audit: 'record', standard: 'warn', strict: 'deny' };

/** Probably not what was meant; or wrong now, but another object may cure it. */
export const warned: Effects = { audit: 'record', standard: 'warn', strict: 'warn' };

/** Legal and often meant; good to know for whoever looks. */
export const recorded: Effects = { audit: 'record', standard: 'record', strict: 'record' };
