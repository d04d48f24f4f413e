import { display } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import { groupOf } from '../../text/api-version.ts';

/** The API server warns only about some of them. */
export const versionSuperseded = unenforcedRule(
  {
    id: 'version-superseded',
    summary: 'An object uses a deprecated version of its API.',
    effect: warned,
    source: 'Gateway API v1.7.0, CRD versions; GEP-922, "API versions"',
  },
  function judge(apiVersion: string, report) {
    const current = `${groupOf(apiVersion)}/v1`;
    report({
      below: [],
      value: display(apiVersion),
      message: `Deprecated version ${display(apiVersion)}: it will be removed. Use ${current}.`,
    });
  },
);
