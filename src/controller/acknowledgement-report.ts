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

export function encodeReport(report: AcknowledgementReport): string {
  return JSON.stringify(Object.fromEntries([...report].map(([gateway, pods]) => [gateway, Object.fromEntries(pods)])));
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
