import type { PreflightFinding } from '../../core/preflight/finding.ts';
import type { ImpactReport } from './impact.ts';
import { recordOf } from '../../core/text/record.ts';
import type { Report, ReportedObject } from './report.ts';

/**
 * Restricts the results of a check or audit to objects of a namespace. Files and objects that cannot be read remain, and objects without a
 * namespace, which kubectl would create in the one of its option `-n`. `undefined`: no restriction.
 */
export async function* reportIn(namespace: string | undefined, report: Report): Report {
  for await (const reported of report)
    if (
      reported.type === 'problem' ||
      isIn(namespace, reported.name) ||
      !isNamed.test(reported.name) ||
      isWithoutNamespace(reported)
    )
      yield reported;
}

function isWithoutNamespace({ name, document }: ReportedObject): boolean {
  return namedObject.test(name) && recordOf(recordOf(document.value)['metadata'])['namespace'] === undefined;
}

/** Restricts an impact to statuses of objects of a namespace, and to requests at its Gateways or routed by its routes. */
export function impactIn(namespace: string | undefined, report: ImpactReport): ImpactReport {
  return {
    ...report,
    statuses: report.statuses.filter(({ object }) => isIn(namespace, object)),
    routing: report.routing.filter(({ gateway, before, after }) =>
      [`Gateway ${gateway}`, before.rule, after.rule].some((name) => name !== undefined && isIn(namespace, name)),
    ),
  };
}

/** Restricts findings about objects to those of a namespace. Findings about CRDs, clients and controllers concern everybody. */
export function findingsIn(
  namespace: string | undefined,
  findings: readonly PreflightFinding[],
): readonly PreflightFinding[] {
  return findings.filter(({ subject }) => !namedObject.test(subject) || isIn(namespace, subject));
}

/** `HTTPRoute shop/cart`, also with more text behind it. */
const namedObject = /^[A-Z]\w* (?<namespace>[a-z0-9-]+)\//;

/** `GatewayClass shop` or `HTTPRoute shop/cart`. An object that cannot be read has no such name. */
const isNamed = /^[A-Z]\w* /;

function isIn(namespace: string | undefined, name: string): boolean {
  return namespace === undefined || namedObject.exec(name)?.groups?.['namespace'] === namespace;
}
