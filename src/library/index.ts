/**
 * Sallyport as a library: reads, validates and evaluates Gateway API objects as the webhook, the controller and the command line do.
 * Functions do no I/O and keep no state. They do not throw because of an object, whatever its shape. The types are self-contained,
 * so that a consumer depends only on this file.
 */
import type { JudgedFinding } from '../core/admission/judged-finding.ts';
import { formatPath } from '../core/resources/path.ts';
import { channels, minors, releases } from '../core/schema/index.ts';
import * as duration from '../core/text/duration.ts';
import { forgetSelectors } from '../core/text/selector.ts';
import { parseDocuments } from '../files/parse.ts';
import { evaluateSet, validateAlone } from './evaluate.ts';
import { judgementOf, type Judgement } from './judgement.ts';

/** Settings of a validation. All have defaults. */
export interface Options {
  /** Release of the CRDs: `v1.7.0`, `v1.7` or `1.7`. Default: the newest. */
  readonly bundle?: string;
  /** Release channel of the CRDs. Default: `standard`. */
  readonly channel?: 'standard' | 'experimental';
  /** Profile, which decides the severity of findings. Default: `standard`. */
  readonly profile?: 'audit' | 'standard' | 'strict';
  /** The controllerName whose GatewayClasses and dependents get a status. Default: `sallyport.dev/gateway-controller`. */
  readonly controllerName?: string;
}

/** A problem at one location of an object. */
export interface Finding {
  /** Id of a rule in docs/rules, or `schema` or `schema-unknown-field` for the schema of the bundle. */
  readonly rule: string;
  /** `error`: admission would deny it. `warning`: it would warn. `note`: it would record it. */
  readonly severity: 'error' | 'warning' | 'note';
  /** Field names and list indexes, from the root of the object. */
  readonly path: readonly (string | number)[];
  /** The same in the notation of Kubernetes: `spec.rules[0].filters[1].type`. */
  readonly field: string;
  /** The problem and its fix. */
  readonly message: string;
}

/** A position in a text. Line and column count from 1, columns in UTF-16 code units. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** An object of a text. */
export interface ParsedObject {
  readonly object: unknown;
  readonly position: Position;
  /** The position of a path inside the object. For a path that does not exist, its nearest existing ancestor. */
  locate(path: Finding['path']): Position;
}

/** A problem of a text, for its author. */
export interface Problem {
  /** `error`: an object could not be read. `warning`: it was read, but kubectl reads it differently. */
  readonly severity: 'error' | 'warning';
  readonly position: Position;
  readonly message: string;
}

/** An object of a set, with the results for it in the context of all of them. */
export interface Evaluated {
  readonly object: unknown;
  readonly findings: readonly Finding[];
  /** The status that the controller of `controllerName` would write, without times. Absent if it would write none. */
  readonly status?: Readonly<Record<string, unknown>>;
}

/** The result of parsing a duration. */
export type Duration =
  | { readonly ok: true; readonly milliseconds: number }
  | { readonly ok: false; readonly problem: string };

/** The bundles that `Options` accepts, oldest first. */
export const bundles: readonly { readonly bundle: string; readonly channel: 'standard' | 'experimental' }[] =
  minors.flatMap((minor) => channels.map((channel) => ({ bundle: releases[minor], channel })));

/**
 * Reads the objects of a YAML or JSON text: several documents, Lists item by item. An invalid document is among the problems and does
 * not affect the others.
 */
export function parse(text: string): {
  readonly objects: readonly ParsedObject[];
  readonly problems: readonly Problem[];
} {
  const { documents, problems } = parseDocuments(text, '');
  return {
    objects: documents.map(({ value, locate }) => ({ object: value, position: locate([]), locate })),
    problems: problems.map(({ severity, position = { line: 1, column: 1 }, message }) => ({
      severity,
      position,
      message,
    })),
  };
}

/**
 * Validates one object, independent of other objects: against the schema of the bundle, the CEL rules of the schema, and rules that the
 * schema does not enforce. Objects of other projects have no findings. Throws RangeError for an unsupported option.
 */
export function validate(object: unknown, options: Options = {}): readonly Finding[] {
  const judgement = judgementFor(options);
  return orAsJson([object], ([given]) => validateAlone(given, judgement)).map(findingOf);
}

/**
 * Evaluates objects together, as if they were a cluster: the findings of `validate`, and problems between objects. The result has the
 * order of the input. If two objects have the same identity, the first counts. Throws RangeError for an unsupported option.
 */
export function evaluate(objects: Iterable<unknown>, options: Options = {}): readonly Evaluated[] {
  const given = [...objects];
  const judgement = judgementFor(options);
  return orAsJson(given, (all) => evaluateSet(all, judgement)).map(({ findings, status }, position) => {
    const evaluated = { object: given[position], findings: findings.map(findingOf) };
    return status === undefined ? evaluated : { ...evaluated, status: { ...status } };
  });
}

/** Parses a duration of the Gateway API (GEP-2257): `1h30m`. */
export function parseDuration(text: string): Duration {
  return duration.parseDuration(text);
}

/** Formats a duration according to GEP-2257. `undefined` if that is impossible (negative, a fraction, 100000 hours or more). */
export function formatDuration(milliseconds: number): string | undefined {
  const formatted = duration.formatDuration(milliseconds);
  return formatted.ok ? formatted.text : undefined;
}

/**
 * Programs can pass what no file contains, such as lists with holes and revoked proxies. The core expects JSON and may throw for them; they
 * are then judged as the JSON that would be sent to an API server. An error in the core still throws.
 */
function orAsJson<T>(objects: readonly unknown[], judge: (objects: readonly unknown[]) => T): T {
  forgetSelectors();
  try {
    return judge(objects);
  } catch {
    return judge(objects.map(asJson));
  }
}

/** `undefined`, which is not an object, if there is no such JSON. */
function asJson(object: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(object));
  } catch {
    return undefined;
  }
}

function judgementFor(options: Options): Judgement {
  const {
    bundle = '1.7',
    channel = 'standard',
    profile = 'standard',
    controllerName = 'sallyport.dev/gateway-controller',
  } = options;
  return judgementOf({ bundle, channel, profile, controllerName });
}

const severities = { deny: 'error', warn: 'warning', record: 'note' } as const;

function findingOf({ rule, effect, path, message }: JudgedFinding): Finding {
  return { rule, severity: severities[effect], path, field: formatPath(path), message };
}
