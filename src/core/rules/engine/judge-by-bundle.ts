import type { Bundle, Examination, WrittenObject } from '../../schema/index.ts';
import { officialTables } from '../official/table.ts';
import { runToEnd, type Steps } from '../../text/steps.ts';
import type { Finding } from './rule.ts';
import { SiteJudge } from './site-judge.ts';
import { unenforcedTables } from '../unenforced/table.ts';
import { metadataOf } from './written-object.ts';

/** The problems of an object, except for those of its schema and those that status and traffic react to. */
export interface JudgedByBundle {
  /**
   * Rejections by the CEL rules of the bundle's CRDs, with our own messages, at or below the paths that the CRDs name. Rules
   * that compare with the old object are in `judgeChange`.
   */
  readonly official: readonly Finding[];
  /** Problems that these CRDs accept. */
  readonly unenforced: readonly Finding[];
}

const sites = new SiteJudge({ unenforced: unenforcedTables, official: officialTables });

/**
 * Judges an object by the tables of sites. Fields that the bundle does not have, and values of a wrong type, have no findings
 * here, because the schema reports them. Never throws.
 *
 * @param stored the result of examining the object by the same bundle
 */
export function judgeByBundle(
  object: WrittenObject,
  { stored }: Pick<Examination, 'stored'>,
  bundle: Bundle,
): JudgedByBundle {
  return runToEnd(judgementByBundle(object, { stored }, bundle));
}

/** Like `judgeByBundle`, in steps. */
export function* judgementByBundle(
  object: WrittenObject,
  { stored }: Pick<Examination, 'stored'>,
  bundle: Bundle,
): Steps<JudgedByBundle> {
  if (typeof stored !== 'object') return { official: [], unenforced: [] };
  return yield* sites.judge(
    object,
    { ...(stored as object), apiVersion: object.apiVersion, metadata: metadataOf(object.json) },
    bundle,
  );
}
