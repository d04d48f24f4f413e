import type { Bundle, Examination, WrittenObject } from '../../schema/index.ts';
import type { Finding } from '../rule.ts';
import { siteJudge } from '../site-judge.ts';
import { officialTables } from './table.ts';

const judge = siteJudge(officialTables);

/**
 * What the API server refuses in an object by the rules of a bundle's CRDs, its schema left out: in our words, at
 * paths at or below those that the API server names. Nothing for what the bundle does not have, nor for what has the
 * wrong type, of which the schema tells. What takes two objects to see is found by `judgeChange`. Never throws.
 *
 * @param stored what examining the object by the same bundle left of it
 */
export function judgeOfficially(object: WrittenObject, { stored }: Pick<Examination, 'stored'>, bundle: Bundle): readonly Finding[] {
  return stored === undefined ? [] : judge(object, stored, bundle);
}
