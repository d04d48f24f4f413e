import type { Effect, Profile } from './rule.ts';

/** The effects of a rule on admission by profile. `audit` never denies or warns. */
export type Effects = Readonly<Record<Profile, Effect>>;

/** Invalid regardless of other objects, without a known valid use. */
export const denied: Effects = { audit: 'record', standard: 'deny', strict: 'deny' };

/** Invalid by the text of the specification, but with defined behavior, or used in practice. */
export const deniedWhenStrict: Effects = { audit: 'record', standard: 'warn', strict: 'deny' };

/** Probably unintended; or invalid now, but another object may fix it. */
export const warned: Effects = { audit: 'record', standard: 'warn', strict: 'warn' };

/** Valid and often intended; for information. */
export const recorded: Effects = { audit: 'record', standard: 'record', strict: 'record' };
