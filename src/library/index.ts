/**
 * Sallyport as a library: reads, validates and evaluates Gateway API objects as the webhook, the controller and the command
 * line do. Nothing here does I/O or keeps state, and nothing throws, whatever an object looks like. The types stand here by
 * themselves, so that this file is all that a consumer depends on.
 */
import type { JudgedFinding } from '../core/admission/judged-finding.ts';
import { formatPath } from '../core/resources/path.ts';
import { channels, minors, releases } from '../core/schema/index.ts';
import * as duration from '../core/text/duration.ts';
import { parseDocuments } from '../files/parse.ts';
import { evaluateSet, validateAlone } from './evaluate.ts';
import { judgementOf, type Judgement } from './judgement.ts';

/** What objects are validated for; everything has a default. */
export interface Options {
  /** Release of the CRDs: `v1.7.0`, `v1.7` or `1.7`. The newest unless given. */
  readonly bundle?: string;
  /** Its channel; `standard` unless given. */
  readonly channel?: 'standard' | 'experimental';
  /** What findings mean; `standard` unless given. */
  readonly profile?: 'audit' | 'standard' | 'strict';
  /** GatewayClasses with this controllerName have a status, and what belongs to them; `sallyport.dev/gateway-controller` unless given. */
  readonly controllerName?: string;
}

/** One thing that is wrong at one place of an object. */
export interface Finding {
  /** Id of a rule, of docs/rules; `schema` and `schema-unknown-field` for the schema of the bundle. */
  readonly rule: string;
  /** `error`: admission would deny it. `warning`: it would warn. `note`: it would record it. */
  readonly severity: 'error' | 'warning' | 'note';
  /** Names and list positions, from the root of the object. */
  readonly path: readonly (string | number)[];
  /** The same in Kubernetes' form: `spec.rules[0].filters[1].type`. */
  readonly field: string;
  /** What is wrong, and what to write instead. */
  readonly message: string;
}

/** A place in a text, both counted from 1; columns in UTF-16 code units. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** One object of a text. */
export interface ParsedObject {
  readonly object: unknown;
  readonly position: Position;
  /** Where a path inside the object stands; for one that does not exist, its nearest ancestor that does. */
  locate(path: Finding['path']): Position;
}

/** Something about a text that its author should know. */
export interface Problem {
  /** `error`: an object could not be read. `warning`: it was, but kubectl reads it differently. */
  readonly severity: 'error' | 'warning';
  readonly position: Position;
  readonly message: string;
}

/** An object of a set, with what follows for it from all of them. */
export interface Evaluated {
  readonly object: unknown;
  readonly findings: readonly Finding[];
  /** As the controller of `controllerName` would write it, without times; absent where it would write none. */
  readonly status?: Readonly<Record<string, unknown>>;
}

/** What a text that should be a duration turned out to be. */
export type Duration = { readonly ok: true; readonly milliseconds: number } | { readonly ok: false; readonly problem: string };

/** The bundles that can be named in `Options`, oldest first. */
export const bundles: readonly { readonly bundle: string; readonly channel: 'standard' | 'experimental' }[] =
  minors.flatMap((minor) => channels.map((channel) => ({ bundle: releases[minor], channel })));

/**
 * Reads the objects of a YAML or JSON text: several documents, Lists item by item. What cannot be read is among the problems
 * and does not touch the rest.
 */
export function parse(text: string): { readonly objects: readonly ParsedObject[]; readonly problems: readonly Problem[] } {
  const { documents, problems } = parseDocuments(text, '');
  return {
    objects: documents.map(({ value, locate }) => ({ object: value, position: locate([]), locate })),
    problems: problems.map(({ severity, position = { line: 1, column: 1 }, message }) => ({ severity, position, message })),
  };
}

/**
 * What is wrong with one object, whatever other objects there are: the schema of the bundle, its own rules, and what it
 * does not enforce. Objects of other projects have no findings. Throws RangeError where an option is none of those offered.
 */
export function validate(object: unknown, options: Options = {}): readonly Finding[] {
  return validateAlone(object, judgementFor(options)).map(findingOf);
}

/**
 * Evaluates objects together, as if they were a cluster: what `validate` finds, and what is wrong between them. The result
 * has them in the order given; of two with one identity the first counts. Throws RangeError where an option is none of those offered.
 */
export function evaluate(objects: Iterable<unknown>, options: Options = {}): readonly Evaluated[] {
  const given = [...objects];
  return evaluateSet(given, judgementFor(options)).map(({ findings, status }, position) => {
    const evaluated = { object: given[position], findings: findings.map(findingOf) };
    return status === undefined ? evaluated : { ...evaluated, status: { ...status } };
  });
}

/** Reads a duration of the Gateway API (GEP-2257): `1h30m`. */
export function parseDuration(text: string): Duration {
  return duration.parseDuration(text);
}

/** A duration in the standard form of GEP-2257; `undefined` for what none can say (negative, a fraction, 100000 hours or more). */
export function formatDuration(milliseconds: number): string | undefined {
  const formatted = duration.formatDuration(milliseconds);
  return formatted.ok ? formatted.text : undefined;
}

function judgementFor(options: Options): Judgement {
  const { bundle = '1.7', channel = 'standard', profile = 'standard', controllerName = 'sallyport.dev/gateway-controller' } = options;
  return judgementOf({ bundle, channel, profile, controllerName });
}

const severities = { deny: 'error', warn: 'warning', record: 'note' } as const;

function findingOf({ rule, effect, path, message }: JudgedFinding): Finding {
  return { rule, severity: severities[effect], path, field: formatPath(path), message };
}
