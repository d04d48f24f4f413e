import type { ObjectRule } from '../engine/rule.ts';
import { matchTaken } from './match-taken.ts';
import { requestsTaken } from './requests-taken.ts';

/** Rules about conflicts with other valid objects. They do not affect which parts of an object work. */
export const rivalRules: readonly ObjectRule[] = [matchTaken, requestsTaken];
