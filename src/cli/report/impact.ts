import type { Unobserved } from '../../core/graph/observed.ts';
import type { Effect } from '../../core/impact/effect.ts';
import type { RoutedSummary, RoutingChange, ShareSummary } from '../../core/impact/routing.ts';
import type { ConditionState, StatusChange } from '../../core/impact/statuses.ts';
import { printable } from '../../core/text/display.ts';
import { answerFor, type AnswerReason } from '../../proxy/messages/reasons.ts';
import type { Terminal } from '../terminal.ts';
import { jsonText } from './json-text.ts';
import { closeReasons } from './explain/layer4-outcome.ts';
import { sessionText } from './explain/outcome.ts';
import { unobservedText } from './unobserved.ts';

/** The effect of a change. */
export interface ImpactReport {
  readonly statuses: readonly StatusChange[];
  readonly routing: readonly RoutingChange[];
  /** Whether more requests may be affected than were compared. */
  readonly incomplete: boolean;
}

type Print = (report: ImpactReport, style: Terminal['style']) => string;

/** Maximum number of example requests in text and Markdown. JSON contains all. */
const shownRequests = 20;
const longestLine = 2_000;

const order: readonly Effect[] = ['broken', 'recovered', 'changed'];
const titles: Readonly<Record<Effect, string>> = { broken: 'Breaks', recovered: 'Recovers', changed: 'Changes' };
const colors = { broken: 'red', recovered: 'green', changed: 'yellow' } as const;

/** The output formats. */
export const impactFormats = { text: printText, json: printJson, markdown: printMarkdown } satisfies Record<
  string,
  Print
>;

function printText(report: ImpactReport, style: Terminal['style']): string {
  const sections = order.flatMap((effect) => {
    const lines = linesOf(report, effect).map(
      ({ subject, before, after }) => `  ${subject}\n    before: ${before}\n    after:  ${after}`,
    );
    return lines.length === 0 ? [] : [`${style(['bold', colors[effect]], titles[effect])}\n${lines.join('\n')}`];
  });
  return `${[...sections, summaryOf(report)].join('\n\n')}\n`;
}

function printJson(report: ImpactReport): string {
  return `${jsonText(report, 2)}\n`;
}

function printMarkdown(report: ImpactReport): string {
  const sections = order.flatMap((effect) => {
    const rows = linesOf(report, effect).map(
      ({ subject, before, after }) => `| ${[subject, before, after].map(cell).join(' | ')} |`,
    );
    return rows.length === 0
      ? []
      : [`#### ${titles[effect]}\n\n| | Before | After |\n|---|---|---|\n${rows.join('\n')}`];
  });
  return `### Impact on Gateway API objects\n\n${[...sections, summaryOf(report)].join('\n\n')}\n`;
}

/** Escapes characters that Markdown interprets as markup or HTML. */
export function cell(text: string): string {
  return text.replaceAll(/[\\`*_{}[\]<>|&#@]/g, (character) => `&#${character.codePointAt(0)};`);
}

/** An effect in words. */
interface Line {
  /** The object whose condition changes, or the rule or Gateway that routes the request: `HTTPRoute shop/cart`, also with more text behind it. */
  readonly about: string;
  readonly subject: string;
  readonly before: string;
  readonly after: string;
}

/** All effects in words, with broken ones first. */
export function effectLines(report: ImpactReport): readonly (Line & { readonly effect: Effect })[] {
  return order.flatMap((effect) => linesOf(report, effect, Infinity).map((line) => ({ ...line, effect })));
}

/** @param maxRequests maximum number of requests */
function linesOf({ statuses, routing }: ImpactReport, effect: Effect, maxRequests = shownRequests): readonly Line[] {
  const conditions = statuses
    .filter((change) => change.effect === effect)
    .map(({ object, part, condition, before, after }) => ({
      about: object,
      subject: `${object}${part === '' ? '' : `, ${part}`}: ${condition}`,
      before: stateText(before),
      after: stateText(after),
    }));
  const requests = routing.filter((change) => change.effect === effect);
  const shown = requests.slice(0, maxRequests).map(({ gateway, request, before, after }) => ({
    about: before.rule ?? after.rule ?? `Gateway ${gateway}`,
    subject: `${request} at Gateway ${gateway}`,
    before: routedText(before),
    after: routedText(after),
  }));
  const more = requests.length - shown.length;
  const rest = more > 0 ? [{ about: '', subject: `and ${more} more examples`, before: 'see', after: '-o json' }] : [];
  return [...conditions, ...shown, ...rest].map(({ about, subject, before, after }) => ({
    about,
    subject: printable(subject, longestLine),
    before: printable(before, longestLine),
    after: printable(after, longestLine),
  }));
}

function stateText(state: ConditionState | undefined): string {
  if (state === undefined) return 'not set';
  return `${state.status} (${state.reason})${state.message === '' ? '' : `: ${state.message}`}`;
}

function routedText({
  rule,
  decision,
  filters = [],
  authorization,
  reason,
  unobserved,
  location,
  shares,
}: RoutedSummary): string {
  const servers = [...filters, ...(authorization === undefined ? [] : [authorization])];
  const authorized = servers.map((server) => `authorization by ${server}, then `).join('');
  const at = `${rule === undefined ? '' : `${rule}: `}${authorized}`;
  if (unobserved !== undefined) return `${at}${unknownText(unobserved)}`;
  switch (decision) {
    case 'none':
      return 'no listener';
    case 'answer':
      return `${at}${answerText(reason)}`;
    case 'redirect':
      return `${at}redirect to ${location}`;
    case 'forward':
      return `${at}${shares.map(shareText).join('; ')}`;
    case 'connect':
      return `${at}${shares.map(connectionText).join('; ')}`;
    case 'close':
      return `${at}${closeText(reason)}`;
    case 'requests':
      return 'an HTTPS listener routes the requests of the connection';
    default:
      return `${at}${decision}`;
  }
}

function unknownText(unobserved: Unobserved): string {
  return `unknown: ${unobservedText(unobserved)}`;
}

function shareText({ weight, total, backend, reason, unobserved, target, session }: ShareSummary): string {
  const share = weight === total ? '' : `${weight} of ${total} `;
  if (unobserved !== undefined) return `${share}${unknownText(unobserved)}`;
  if (reason !== undefined) return `${share}${answerText(reason)}`;
  return `${share}to ${backend ?? ''} as ${target ?? ''}${session === undefined ? '' : `, ${sessionText(session)}`}`;
}

function connectionText({ weight, total, backend, reason, unobserved }: ShareSummary): string {
  const share = weight === total ? '' : `${weight} of ${total} `;
  if (unobserved !== undefined) return `${share}${unknownText(unobserved)}`;
  return reason === undefined ? `${share}to ${backend ?? ''}` : `${share}${closeText(reason)}`;
}

function closeText(reason = ''): string {
  return `rejected: ${closeReasons[reason as keyof typeof closeReasons]}`;
}

function answerText(reason = ''): string {
  const { status, text } = answerFor(reason as AnswerReason);
  return `${status} ${text}`;
}

function summaryOf(report: ImpactReport): string {
  const effects = [...report.statuses, ...report.routing].map(({ effect }) => effect);
  const counts = order.map((effect) => `${effects.filter((other) => other === effect).length} ${effect}`);
  return `${counts.join(', ')}${report.incomplete ? '; only a part of the affected requests was compared' : ''}`;
}
