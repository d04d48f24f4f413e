import { display } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';

/** The API server warns of some of them only. */
export const versionSuperseded = unenforcedRule({
  id: 'version-superseded',
  summary: 'An object is written in a version that a newer one stands for in the same bundle.',
  effect: warned,
  source: 'Gateway API v1.7.0, CRD versions; GEP-922, "API versions"',
}, function judge(apiVersion: string, report) {
  const current = `${apiVersion.split('/')[0]}/v1`;
  report({ below: [], value: display(apiVersion), message: `${display(apiVersion)} is superseded and will go away. Write ${current}.` });
});
