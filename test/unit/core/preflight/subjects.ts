import { expect } from '@jest/globals';
import { parseObject } from '../../../../src/core/resources/parse.ts';
import type { ClusterFacts, Definition } from '../../../../src/core/preflight/facts.ts';
import { noCluster } from '../../../../src/core/preflight/facts.ts';
import type { PreflightFinding } from '../../../../src/core/preflight/finding.ts';
import { resourceOf, targetOf, type StoredObject, type Target } from '../../../../src/core/preflight/target.ts';
import {
  findKind,
  isSchemaKind,
  type Bundle,
  type Channel,
  type Minor,
  type SchemaKind,
} from '../../../../src/core/schema/index.ts';
import { recordOf } from '../../../../src/core/text/record.ts';

/** A target such as `1.7`, standard unless told. */
export function to(minor: Minor, channel: Channel = 'standard'): Target {
  return targetOf({ minor, channel });
}

/** An object in the namespace shop, called app. */
export function object(kind: SchemaKind, apiVersion: string, body: Readonly<Record<string, unknown>>): StoredObject {
  const metadata = {
    name: 'app',
    ...(kind === 'GatewayClass' ? {} : { namespace: 'shop' }),
    ...recordOf(body['metadata']),
  };
  const json = {
    apiVersion: apiVersion.includes('/') ? apiVersion : `gateway.networking.k8s.io/${apiVersion}`,
    kind,
    ...body,
    metadata,
  };
  const parsed = parseObject(json);
  if (parsed.type !== 'resource' && parsed.type !== 'unserved')
    throw new Error(`${kind} is no object of the Gateway API`);
  const ref = parsed.type === 'resource' ? parsed.resource.ref : parsed.ref;
  if (!isSchemaKind(ref.kind) || findKind(ref.group, ref.kind) === undefined) throw new Error(`${kind} has no schema`);
  return { kind: ref.kind, ref, json };
}

/** A CRD with these stored versions; objects are stored in the last one. */
export function definition(
  kind: SchemaKind,
  storedVersions: readonly string[],
  bundle: Bundle,
  marks: Partial<Definition> = {},
): Definition {
  return {
    name: resourceOf(kind),
    kind,
    bundle,
    channel: bundle.channel,
    storage: storedVersions.at(-1),
    storedVersions,
    labels: {},
    annotations: {},
    managers: ['kubectl'],
    ...marks,
  };
}

/** Facts about a cluster. */
export function facts(some: Partial<ClusterFacts>): ClusterFacts {
  return { ...noCluster, ...some };
}

/** `blocker stored-versions grpcroutes…` with the field, one each. Every finding must have a command. */
export function short(findings: readonly PreflightFinding[]): readonly string[] {
  expect(findings.filter(({ commands }) => commands.length === 0)).toEqual([]);
  return findings.map(({ severity, check, subject, field }) =>
    [severity, check, subject, field].filter((part) => part !== undefined).join(' '),
  );
}
