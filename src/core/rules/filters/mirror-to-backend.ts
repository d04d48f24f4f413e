import { display, quote } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import { backendOf, type Route } from '../routes/rule-contents.ts';

export const mirrorToBackend = unenforcedRule(
  {
    id: 'mirror-to-backend',
    summary: 'Requests are mirrored to a backend that also gets the original requests.',
    effect: warned,
    source: 'Gateway API v1.7.0, HTTPRequestMirrorFilter.backendRef',
  },
  function judge({ metadata: { namespace }, spec }: Route, report) {
    for (const [position, { filters = [], backendRefs = [] }] of (spec?.rules ?? []).entries()) {
      for (const [index, { requestMirror }] of filters.entries()) {
        const target = requestMirror?.backendRef;
        const twin =
          target === undefined
            ? -1
            : backendRefs.findIndex((ref) => backendOf(ref, namespace) === backendOf(target, namespace));
        if (twin === -1) continue;
        report({
          below: ['spec', 'rules', position, 'filters', index, 'requestMirror', 'backendRef'],
          value: display(target?.name ?? ''),
          message: `Requests are mirrored to ${quote(target?.name)}, but backendRefs[${twin}] forwards them to the same backend, so it gets them twice. Use another backend, or remove the mirror.`,
        });
      }
    }
  },
);
