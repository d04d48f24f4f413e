import { display, quote } from '../../text/display.ts';
import { formatDuration, isStandardForm, parseDuration } from '../../text/duration.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';

export const durationNotStandard = unenforcedRule(
  {
    id: 'duration-not-standard',
    summary: 'A duration is not in the standard format.',
    effect: warned,
    source: 'GEP-2257, Gateway API Duration Format ("Formatting a Duration": users SHOULD)',
  },
  function judge(value: string, report) {
    const parsed = isStandardForm(value) ? undefined : parseDuration(value);
    if (parsed?.ok !== true) return;
    const formatted = formatDuration(parsed.milliseconds);
    const advice = formatted.ok ? `Use ${formatted.text}` : 'Use less than 100000h';
    report({
      below: [],
      value: display(value),
      message: `Duration ${quote(value)} is not in the standard format, so tools may show or store it differently. ${advice}.`,
    });
  },
);
