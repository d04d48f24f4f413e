import type { Bundle, Examination, WrittenObject } from '../../schema/index.ts';
import type { Finding } from '../rule.ts';
import { siteJudge } from '../site-judge.ts';
import { metadataOf } from '../written-object.ts';
import { unenforcedTables } from './table.ts';

const judge = siteJudge(unenforcedTables);

/**
 * What is wrong within an object although the CRDs of its bundle take it, as far as neither status nor traffic reacts.
 * Nothing for what the bundle does not have, nor for what has the wrong type. Never throws.
 *
 * @param stored what examining the object by the same bundle left of it
 */
export function judgeUnenforced(object: WrittenObject, { stored }: Pick<Examination, 'stored'>, bundle: Bundle): readonly Finding[] {
  if (typeof stored !== 'object') return [];
  return judge(object, { ...(stored as object), apiVersion: object.apiVersion, metadata: metadataOf(object.json) }, bundle);
}
