import { callExpression } from '../../graph/matches/compile-calls.ts';
import type { RequestRouteKind } from '../../graph/protocols.ts';
import type { Path } from '../../resources/path.ts';
import type { Resource } from '../../resources/resource.ts';
import { visitSemantic } from '../../schema/index.ts';
import { compilePattern, patternSyntaxProblem } from '../../patterns/pattern.ts';
import { writtenMatchType } from '../engine/parts.ts';

/** The limits for all regular expressions of a route together. Expressions beyond the limits are not compiled. */
export const routeExpressionLimits = {
  /** In the unit of `CompiledPattern`. */
  effort: 600_000,
  /** Bytes of the compiled expressions. */
  bytes: 512 * 1_024,
} as const;

/** A regular expression and its location in a route. */
export interface Expression {
  readonly path: Path;
  /** As written by the user. */
  readonly value: string;
}

export interface JudgedExpressions {
  /** Bytes of the expressions in a data plane. */
  readonly bytes: number;
  /** Expressions that are invalid on their own, with the reason. */
  readonly unusable: readonly (Expression & { readonly problem: string })[];
  /** Expressions beyond the limits of the route. */
  readonly beyond: readonly Expression[];
}

/**
 * Judges the regular expressions of a route in order. Equal expressions count once. The work is limited regardless of the size
 * of the route.
 */
export function judgeExpressions(route: Resource<RequestRouteKind>): JudgedExpressions {
  const unusable: (Expression & { readonly problem: string })[] = [];
  const beyond: Expression[] = [];
  const seen = new Set<string>();
  let [effort, bytes] = [0, 0];
  for (const { text, ...expression } of expressionsIn(route, (problem) => unusable.push(problem))) {
    const isUsedUp = effort >= routeExpressionLimits.effort || bytes >= routeExpressionLimits.bytes;
    if (isUsedUp && !seen.has(text)) {
      beyond.push(expression);
      continue;
    }
    const compiled = compilePattern(text);
    if (!compiled.ok) unusable.push({ ...expression, problem: compiled.problem });
    if (seen.has(text)) continue;
    seen.add(text);
    effort += compiled.effort;
    bytes += compiled.ok ? compiled.pattern.bytes : 0;
  }
  return { bytes, unusable, beyond };
}

/** Returns only the first of these expressions in each match. A single one already makes a match unusable. */
export function firstOfEachMatch(expressions: readonly Expression[]): readonly Expression[] {
  return [...Map.groupBy(expressions, ({ path }) => path.slice(0, 5).join('.')).values()].flatMap(
    ([first]) => first ?? [],
  );
}

/** Returns all regular expressions of a route that a data plane compiles. */
export function expressionsOf(route: Resource<RequestRouteKind>): readonly Expression[] {
  return expressionsIn(route, () => undefined);
}

/** An expression with the text that a data plane compiles. */
interface CompiledExpression extends Expression {
  readonly text: string;
}

function expressionsIn(
  route: Resource<RequestRouteKind>,
  reportSyntax: (found: Expression & { readonly problem: string }) => void,
): readonly CompiledExpression[] {
  const found: CompiledExpression[] = [];
  const badCalls = new Set<string>();
  visitSemantic(route.kind, route, 'regexOrValue', (place, value, parent) => {
    if (writtenMatchType(parent) !== 'RegularExpression') return;
    const { path } = place;
    if (path[5] !== 'method') found.push({ path, value, text: value });
    else {
      // Service and method are combined into one expression, but each must be valid on its own.
      const problem = patternSyntaxProblem(value);
      if (problem === undefined) return;
      badCalls.add(path.slice(0, 6).join());
      reportSyntax({ path, value, problem });
    }
  });
  return route.kind === 'GRPCRoute'
    ? [...found, ...callsIn(route).filter(({ path }) => !badCalls.has(path.join()))]
    : found;
}

function callsIn(route: Resource<'GRPCRoute'>): readonly CompiledExpression[] {
  return (route.spec?.rules ?? []).flatMap(({ matches = [] }, rule) =>
    matches.flatMap(({ method }, match) => {
      if (method?.type !== 'RegularExpression') return [];
      const { service = '', method: name = '' } = method;
      return [
        {
          path: ['spec', 'rules', rule, 'matches', match, 'method'],
          value: service === '' ? name : service,
          text: callExpression(service, name),
        },
      ];
    }),
  );
}
