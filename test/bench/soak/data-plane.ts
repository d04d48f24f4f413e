import { readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { loadAll } from 'js-yaml';
import { certificateFacts, issueServingCertificate, type Authority } from '../../../src/certificates/index.ts';
import { ConfigurationSource, type CertificateResource } from '../../../src/channel/index.ts';
import { certificateKey } from '../../../src/controller/configuration-by-gateway.ts';
import { createEvaluation } from '../../../src/core/evaluation.ts';
import { certificateCell, installationCell } from '../../../src/core/graph/inputs.ts';
import { write, type Kernel, type Write } from '../../../src/core/incremental/index.ts';
import { configuration } from '../../../src/core/routing/emit.ts';
import type { Bundle } from '../../../src/core/schema/index.ts';
import { startChannel, tokenOf } from '../../support/channel.ts';
import { candidateOf, installation, writeOf } from '../../support/evaluation.ts';
import { dataPlaneOptions, startComponent } from '../memory/components.ts';
import { memoryOf } from '../memory/usage.ts';

const gateway = 'bench/web';
const secret = 'bench/tls';
const bundle: Bundle = { minor: '1.7', channel: 'experimental' };
const facts = { ...installation, bundles: { GatewayClass: bundle, Gateway: bundle } };
/** Milliseconds in which a data plane applies a change. */
const patience = 30_000;

/** The state of the process of the data plane. */
export interface Reading {
  /** MiB */
  readonly memory: number;
  readonly descriptors: number;
}

/**
 * A data plane in a process of its own with the options of its Deployment, and the controller's side of the channel,
 * which is in this process.
 */
export class SoakedDataPlane {
  private readonly kernel: Kernel = createEvaluation([configuration]);
  private readonly source = new ConfigurationSource();
  private pid = 0;
  readonly authority: Authority;

  constructor(authority: Authority) {
    this.authority = authority;
    this.kernel.apply([write(installationCell, [], facts)]);
  }

  /**
   * Starts the process, and adds what stops it to `stoppables`.
   *
   * @param yaml the objects of the Gateway
   */
  async start(folder: string, yaml: string, stoppables: { stop(): void }[]): Promise<void> {
    const documents = loadAll(yaml).filter((one) => (one as { readonly kind?: string } | null)?.kind !== 'Secret');
    await this.replaceCertificate();
    this.publish(documents.map((json) => upsertOf(json)));
    const channel = await startChannel((name) => (name === gateway ? this.source : undefined));
    stoppables.push({ stop: () => void channel.server.close() });
    const [tokenFile, caFile] = [join(folder, 'token'), join(folder, 'ca.crt')];
    await writeFile(tokenFile, tokenOf(gateway));
    await writeFile(caFile, channel.authority.certificate);
    const args = [
      'proxy',
      `--controller=127.0.0.1:${channel.server.port}`,
      `--gateway=${gateway}`,
      `--token-file=${tokenFile}`,
      `--ca-file=${caFile}`,
      '--identity=web-1',
      '--no-access-log',
    ];
    const component = await startComponent(
      { name: 'data plane', args, probePort: 19_090, ...dataPlaneOptions() },
      { HOME: folder },
    );
    stoppables.push(component);
    this.pid = component.pid;
  }

  /** Creates or replaces objects, and removes others. Resolves when the changes are in force. */
  async change(upserts: readonly unknown[], removals: readonly unknown[]): Promise<void> {
    const id = this.publish([...upserts.map(upsertOf), ...removals.map(removalOf)]);
    await this.whenInForce(id);
  }

  /** Issues another certificate for the HTTPS listener. Resolves when it is in force. */
  async replaceCertificate(): Promise<void> {
    const pair = await issueServingCertificate(this.authority, { dnsNames: ['bench'], ipAddresses: [] });
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    const data = { 'tls.crt': base64(pair.certificate), 'tls.key': base64(pair.privateKey) };
    const resource: CertificateResource = { kind: 'certificate', key: certificateKey(secret), secret, ...pair };
    const read = certificateFacts({ type: 'kubernetes.io/tls', data });
    const { upserted, removed } = this.kernel
      .apply([write(certificateCell, secret.split('/'), read)])
      .of(configuration);
    await this.whenInForce(this.source.publish([resource, ...upserted.values()], removed));
  }

  read(): Reading {
    return { memory: memoryOf(this.pid).resident, descriptors: readdirSync(`/proc/${this.pid}/fd`).length };
  }

  private publish(writes: readonly Write[]): number {
    const { upserted, removed } = this.kernel.apply(writes).of(configuration);
    return this.source.publish(upserted.values(), removed);
  }

  /** Throws if the data plane reports problems, or does not acknowledge in time. */
  private async whenInForce(id: number): Promise<void> {
    const end = performance.now() + patience;
    while (this.source.laggards(id).length > 0) {
      if (performance.now() > end) throw new Error(`the data plane does not acknowledge within ${patience} ms`);
      await pause(2);
    }
    const problems = this.source.states().flatMap((state) => [...state.problems.values()]);
    if (problems.length > 0) throw new Error(`the data plane reports ${problems.join('; ')}`);
  }
}

function upsertOf(json: unknown): Write {
  const { resource } = candidateOf(json, '', bundle);
  return writeOf(resource.ref, resource);
}

function removalOf(json: unknown): Write {
  return writeOf(candidateOf(json, '', bundle).resource.ref, undefined);
}
