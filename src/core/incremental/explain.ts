import type { AnyQuery } from './calls.ts';
import { type Cell, InputCell, Memo } from './cells.ts';
import { FacetCell } from './index-table.ts';
import { keyOf } from './key.ts';
import type { LiveState } from './live-state.ts';

/** What a result was made of. */
export interface Explanation {
  readonly kind: 'query' | 'input' | 'list' | 'count' | 'several' | 'first';
  /** The name of the query, input or index. */
  readonly name: string;
  /** The arguments; for an index the bucket. */
  readonly args: readonly string[];
  readonly value: unknown;
  /** What was read, in order of reading; for a query that is shown elsewhere in the tree nothing. */
  readonly reads: readonly Explanation[];
  /** How many reads are left out: shown elsewhere, or beyond the bounds of the tree. */
  readonly omitted: number;
}

type Growing = Explanation & { reads: Explanation[]; omitted: number };

const maximumDepth = 12;
const maximumNodes = 1000;

/**
 * The tree of all that led to the present result of `query`, breadth first up to 1000 nodes and 12 levels.
 * Throws what the query throws.
 */
export function explain(live: LiveState, query: AnyQuery, args: readonly string[]): Explanation {
  const value = live.query(query, args);
  const root: Growing = { kind: 'query', name: query.name, args, value, reads: [], omitted: 0 };
  const memo = live.findMemo(query, keyOf(args));
  if (memo === undefined) return root;
  const seen = new Set<Cell>([memo]);
  const open = [{ memo, node: root, depth: 1 }];
  let nodes = 1;
  for (const { memo, node, depth } of open) {
    for (const cell of memo.dependencies) {
      if (depth >= maximumDepth || nodes >= maximumNodes) {
        node.omitted++;
        continue;
      }
      nodes++;
      const child = describe(cell);
      node.reads.push(child);
      if (!(cell instanceof Memo)) continue;
      if (seen.has(cell)) child.omitted = cell.dependencies.length;
      else open.push({ memo: cell, node: child, depth: depth + 1 });
      seen.add(cell);
    }
  }
  return root;
}

function describe(cell: Cell): Growing {
  const rest = { reads: [], omitted: 0 };
  if (cell instanceof Memo) return { kind: 'query', name: cell.name, args: cell.args, value: cell.value, ...rest };
  if (cell instanceof InputCell) return { kind: 'input', name: cell.input.name, args: cell.args, value: cell.value, ...rest };
  if (cell instanceof FacetCell) {
    return { kind: cell.facet, name: cell.index.name, args: [cell.bucketName], value: cell.value, ...rest };
  }
  throw new TypeError('a cell of an unknown kind');
}
