import { describeRef, refOfKey } from '../../core/resources/reference.ts';
import type { Condition } from '../../core/status/conditions.ts';
import type { OwnStatus } from '../../core/status/emit.ts';
import type { Terminal } from '../terminal.ts';
import { printable } from '../../core/text/display.ts';

/** Conditions with negative polarity: False or absent is good. */
const negative: ReadonlySet<string> = new Set([
  'Conflicted',
  'OverlappingTLSConfig',
  'PartiallyInvalid',
  'InsecureFrontendValidationMode',
]);

/** Prints the statuses of objects, one line each, and a line for every condition that reports a problem. */
export function printStatuses(terminal: Terminal, statuses: Iterable<readonly [key: string, status: OwnStatus]>): void {
  for (const [key, status] of [...statuses].sort(([one], [other]) => (one < other ? -1 : 1))) {
    const title = describeRef(refOfKey(key));
    for (const row of rowsOf(status)) {
      terminal.line(
        `  ${printable([title, row.part].filter((part) => part !== '').join(' ')).padEnd(44)} ${row.conditions.map((condition) => showCondition(terminal, condition)).join('  ')}${row.note}`,
      );
      for (const condition of row.conditions.filter((one) => !isWell(one) && one.message !== ''))
        terminal.line(printable(`      ${condition.type}: ${condition.message}`));
    }
  }
}

interface Row {
  readonly part: string;
  readonly note: string;
  readonly conditions: readonly Condition[];
}

function rowsOf(status: OwnStatus): readonly Row[] {
  if ('parents' in status) {
    return status.parents.map(({ parentRef, conditions }) => ({
      part: `on ${parentRef.namespace}/${parentRef.name}${parentRef.sectionName === undefined ? '' : `/${parentRef.sectionName}`}`,
      note: '',
      conditions,
    }));
  }
  if ('ancestors' in status) {
    return status.ancestors.map(({ ancestorRef, conditions }) => ({
      part: `on ${ancestorRef.namespace}/${ancestorRef.name}`,
      note: '',
      conditions,
    }));
  }
  if (!('listeners' in status)) return [{ part: '', note: '', conditions: status.conditions }];
  return [
    { part: '', note: '', conditions: status.conditions },
    ...status.listeners.map(({ name, attachedRoutes, conditions }) => ({
      part: `listener ${name}`,
      note: `  attachedRoutes=${attachedRoutes}`,
      conditions,
    })),
  ];
}

function showCondition(terminal: Terminal, condition: Condition): string {
  const { type, status, reason } = condition;
  if (isWell(condition)) return terminal.style('green', `${type}=${status}`);
  return terminal.style(status === 'Unknown' ? 'yellow' : 'red', `${type}=${status}(${reason})`);
}

function isWell({ type, status }: Condition): boolean {
  return status === (negative.has(type) ? 'False' : 'True');
}
