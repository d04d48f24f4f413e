import type { Bundle, Examination, WrittenObject } from '../../schema/index.ts';
import { officialTables } from '../official/table.ts';
import type { Finding } from './rule.ts';
import { siteJudge } from './site-judge.ts';
import { unenforcedTables } from '../unenforced/table.ts';
import { metadataOf } from './written-object.ts';

/** What is wrong within an object, beside its schema and what status and traffic react to. */
export interface JudgedByBundle {
  /**
   * What the API server refuses by the rules of the bundle's CRDs: in our words, at paths at or below those that it
   * names. What takes two objects to see is found by `judgeChange`.
   */
  readonly official: readonly Finding[];
  /** What these CRDs take all the same. */
  readonly unenforced: readonly Finding[];
}

const judge = siteJudge({ unenforced: unenforcedTables, official: officialTables });

/**
 * Judges an object by the tables of sites. Nothing is found in what the bundle does not have, nor in what has the wrong
 * type, of which the schema tells. Never throws.
 *
 * @param stored what examining the object by the same bundle left of it
 */
export function judgeByBundle(object: WrittenObject, { stored }: Pick<Examination, 'stored'>, bundle: Bundle): JudgedByBundle {
  if (typeof stored !== 'object') return { official: [], unenforced: [] };
  return judge(object, { ...(stored as object), apiVersion: object.apiVersion, metadata: metadataOf(object.json) }, bundle);
}
