import { display, quote } from '../../text/display.ts';
import { formatDuration, isStandardForm, parseDuration } from '../../text/duration.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';

export const durationNotStandard = unenforcedRule({
  id: 'duration-not-standard',
  summary: 'A duration is not written in the standard form.',
  effect: warned,
  source: 'GEP-2257, Gateway API Duration Format ("Formatting a Duration": users SHOULD)',
}, function judge(value: string, report) {
  const parsed = isStandardForm(value) ? undefined : parseDuration(value);
  if (parsed?.ok !== true) return;
  const formatted = formatDuration(parsed.milliseconds);
  const advice = formatted.ok ? `Write ${formatted.text}` : 'Write less than 100000h';
  report({ below: [], value: display(value), message: `${quote(value)} is not how programs write this duration, so tools will show or store it otherwise. ${advice}.` });
});
