import { display, quote } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { deniedWhenStrict } from '../engine/effects.ts';

const insideEndings = ['.svc', '.localhost'];
const insideNames: ReadonlySet<string> = new Set(['cluster.local', 'metadata.google.internal']);

/** Bundles already reject names that end with .cluster.local. */
export const externalHostnameLocal = unenforcedRule(
  {
    id: 'external-hostname-local',
    summary: 'The hostname of an external backend is local to the node or the cluster.',
    effect: deniedWhenStrict,
    source: 'Gateway API v1.7.0, ExternalHostnameBackend.hostname; GEP-4894 (confused deputy); CVE-2021-25740',
  },
  function judge(hostname: string, report) {
    if (hostname.endsWith('.cluster.local')) return;
    // A single-label name is first resolved among the Services of the namespace.
    if (
      hostname.includes('.') &&
      !insideNames.has(hostname) &&
      !insideEndings.some((ending) => hostname.endsWith(ending))
    )
      return;
    report({
      below: [],
      value: display(hostname),
      message: `Invalid hostname ${quote(hostname)}: it is local to the node or the cluster, and bypasses the checks of references to Services. Refer to the Service instead, or use a name outside the cluster.`,
    });
  },
);
