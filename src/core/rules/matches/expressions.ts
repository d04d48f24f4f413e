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
  const isBroken = syntaxCheck();
  let [effort, bytes] = [0, 0];
  for (const { text, parts, ...expression } of expressionsIn(route)) {
    const isUsedUp = effort >= routeExpressionLimits.effort || bytes >= routeExpressionLimits.bytes;
    if (isUsedUp && !seen.has(text)) {
      beyond.push(expression);
      continue;
    }
    // Service and method are combined into one expression, but each must be valid on its own.
    const broken = parts.filter(isBroken);
    for (const each of broken.length === 0 ? [{ ...expression, text }] : broken.map(withText)) {
      const compiled = compilePattern(each.text);
      if (!compiled.ok) unusable.push({ path: each.path, value: each.value, problem: compiled.problem });
      if (seen.has(text)) continue;
      effort += compiled.effort;
      bytes += compiled.ok ? compiled.pattern.bytes : 0;
    }
    seen.add(text);
  }
  return { bytes, unusable, beyond };
}

/** Returns a check of the syntax of expressions that reads equal ones once: a route may repeat a long one a thousand times. */
function syntaxCheck(): (expression: Expression) => boolean {
  const known = new Map<string, boolean>();
  return ({ value }) => {
    const isBroken = known.get(value) ?? patternSyntaxProblem(value) !== undefined;
    known.set(value, isBroken);
    return isBroken;
  };
}

/** Returns only the first of these expressions in each match. A single one already makes a match unusable. */
export function firstOfEachMatch(expressions: readonly Expression[]): readonly Expression[] {
  return [...Map.groupBy(expressions, ({ path }) => path.slice(0, 5).join('.')).values()].flatMap(
    ([first]) => first ?? [],
  );
}

/** Returns all regular expressions of a route that a data plane compiles. */
export function expressionsOf(route: Resource<RequestRouteKind>): readonly Expression[] {
  return expressionsIn(route);
}

/** An expression with the text that a data plane compiles. */
interface CompiledExpression extends Expression {
  readonly text: string;
  /** The expressions that it combines. */
  readonly parts: readonly Expression[];
}

function withText(expression: Expression): Expression & { readonly text: string } {
  return { ...expression, text: expression.value };
}

function expressionsIn(route: Resource<RequestRouteKind>): readonly CompiledExpression[] {
  const found: CompiledExpression[] = [];
  visitSemantic(route.kind, route, 'regexOrValue', ({ path }, value, parent) => {
    if (writtenMatchType(parent) === 'RegularExpression' && path[5] !== 'method')
      found.push({ path, value, text: value, parts: [] });
  });
  return route.kind === 'GRPCRoute' ? [...found, ...callsIn(route)] : found;
}

function callsIn(route: Resource<'GRPCRoute'>): readonly CompiledExpression[] {
  return (route.spec?.rules ?? []).flatMap(({ matches = [] }, rule) =>
    matches.flatMap(({ method: call }, match) => {
      if (call?.type !== 'RegularExpression') return [];
      const { service = '', method = '' } = call;
      const path = ['spec', 'rules', rule, 'matches', match, 'method'];
      const parts = [
        { path: [...path, 'service'], value: service },
        { path: [...path, 'method'], value: method },
      ];
      return [{ path, value: service === '' ? method : service, text: callExpression(service, method), parts }];
    }),
  );
}
