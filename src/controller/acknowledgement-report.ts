import type { ConfigKey } from '../core/routing/config.ts';
import { recordOf } from '../core/text/record.ts';

/** Configuration that one data plane has in force. */
export interface PodAcknowledgement {
  /** Owner of listeners (`kind/namespace/name`) → its generation. */
  readonly generations: Readonly<Record<string, number>>;
  /** Resources of that configuration that do not work → reason. */
  readonly problems: Readonly<Record<ConfigKey, string>>;
  /** The data plane is too old for its configuration. */
  readonly isOutdated?: true;
}

/** By pod. */
export type GatewayAcknowledgements = ReadonlyMap<string, PodAcknowledgement>;

/** Configuration in force on the data planes that are connected to one replica, by Gateway (`namespace/name`). */
export type AcknowledgementReport = ReadonlyMap<string, GatewayAcknowledgements>;

/** Maximum bytes of a report: a ConfigMap holds 1 MiB. */
const longestReport = 900 * 1024;

/** A report has no room for more generations of one Gateway, even if all of them are as short as `"Gateway/a/b":1,`. */
export const mostGenerations = longestReport / 16;

/**
 * Encodes a report for a ConfigMap. If it is too long, the Gateways that take most lose their problems, and then their pods: they must
 * not keep out the others.
 */
export function encodeReport(report: AcknowledgementReport): string {
  const parts = new Map([...report].map(([gateway, pods]) => [gateway, partOf(gateway, pods)]));
  let size = [...parts.values()].reduce((sum, part) => sum + part.size, 0);
  if (size > longestReport) {
    for (const { gateway, part, next } of reductions(report, parts)) {
      if (next === undefined) parts.delete(gateway);
      else parts.set(gateway, next);
      size += (next?.size ?? 0) - part.size;
      if (size <= longestReport) break;
    }
  }
  return `{${[...parts.values()].map(({ text }) => text).join(',')}}`;
}

/** A member of the JSON object, and its bytes with the comma. */
interface Part {
  readonly text: string;
  readonly size: number;
}

/** A part that is replaced by a smaller one, or left out. */
interface Reduction {
  readonly gateway: string;
  readonly part: Part;
  readonly next: Part | undefined;
}

/** All possible reductions, the largest part first. */
function reductions(report: AcknowledgementReport, parts: ReadonlyMap<string, Part>): readonly Reduction[] {
  return [...parts]
    .flatMap(([gateway, part]): readonly Reduction[] => {
      const next = partOf(gateway, withoutProblems(report.get(gateway) ?? new Map()));
      const last = { gateway, part: next, next: undefined };
      return next.size < part.size ? [{ gateway, part, next }, last] : [last];
    })
    .sort((one, other) => other.part.size - one.part.size);
}

function partOf(gateway: string, pods: GatewayAcknowledgements): Part {
  const text = `${JSON.stringify(gateway)}:${JSON.stringify(Object.fromEntries(pods))}`;
  return { text, size: Buffer.byteLength(text) + 1 };
}

function withoutProblems(pods: GatewayAcknowledgements): GatewayAcknowledgements {
  return new Map([...pods].map(([name, pod]) => [name, { ...pod, problems: {} }]));
}

/** Decodes a report of `encodeReport`, perhaps of another version of it. Ignores unknown content. */
export function decodeReport(text: string): AcknowledgementReport {
  return mapOf(parse(text), (pods) =>
    mapOf(pods, (pod) => ({
      generations: Object.fromEntries(
        mapOf(recordOf(pod)['generations'], (generation) => (typeof generation === 'number' ? generation : undefined)),
      ),
      problems: Object.fromEntries(
        mapOf(recordOf(pod)['problems'], (message) => (typeof message === 'string' ? message : undefined)),
      ),
      ...(recordOf(pod)['isOutdated'] === true && { isOutdated: true }),
    })),
  );
}

function mapOf<T>(json: unknown, read: (member: unknown) => T | undefined): ReadonlyMap<string, T> {
  return new Map(
    Object.entries(recordOf(json)).flatMap(([name, member]) => {
      const value = read(member);
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
