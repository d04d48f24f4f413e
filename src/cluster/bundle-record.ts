import type { ClusterWriter, WireObject } from '../controller/index.ts';
import { bundleChannelAnnotation, bundleVersionAnnotation, type Annotated } from './installed-bundle.ts';
import { recordOf } from '../core/text/record.ts';
import type { Logger } from '../telemetry/index.ts';

export interface BundleRecordOptions {
  /** The namespace of the controller. */
  readonly namespace: string;
  readonly writer: Pick<ClusterWriter, 'read' | 'apply'>;
  /** Whether the term as leader has not ended. Its end aborts a write. */
  readonly isLeading: () => boolean;
  readonly log: Logger;
}

/** Keeps a ConfigMap with the bundles of the installed CRDs, so that a downgrade is noticed that happens while no controller runs. */
export class BundleRecord {
  private readonly options: BundleRecordOptions;
  private written = '';
  /** The definitions to write after the write in progress. */
  private next: ReadonlyMap<string, Annotated> | undefined;
  private writing: Promise<void> | undefined;

  constructor(options: BundleRecordOptions) {
    this.options = options;
  }

  /** Reads the record of an earlier run, by name of the CRD. Empty if there is none, or if it cannot be read. */
  async read(): Promise<ReadonlyMap<string, Annotated>> {
    const { writer, log } = this.options;
    const result = await writer.read(this.object({}));
    if (result.type === 'ok') return decode(result.object);
    if (result.type !== 'notFound')
      log.warn({ outcome: result.type, problem: result.message }, 'cannot read the recorded CRDs');
    return new Map();
  }

  /** Call this at the start of a term as leader: another replica may have written the record since. */
  begin(): void {
    this.written = '';
  }

  /**
   * Writes the record unless it is up to date. A failure is logged, and the next call tries again. Writes do not overlap, so that an older
   * one never replaces a newer one: a call during a write waits for it, and only the latest such call is written.
   */
  write(installed: ReadonlyMap<string, Annotated>): Promise<void> {
    this.next = installed;
    this.writing ??= this.writeAll();
    return this.writing;
  }

  private async writeAll(): Promise<void> {
    try {
      for (let next = this.next; next !== undefined; next = this.next) {
        this.next = undefined;
        await this.writeOnce(next);
      }
    } finally {
      // In the same turn as the last look at `#next`, so that no call is lost in between.
      this.writing = undefined;
    }
  }

  private async writeOnce(installed: ReadonlyMap<string, Annotated>): Promise<void> {
    const { writer, isLeading, log } = this.options;
    const entries = [...installed].map(([name, kind]) => [name, encode(kind)] as const);
    const data = Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)));
    const text = JSON.stringify(data);
    if (text === this.written) return;
    const result = await writer.apply(this.object(data));
    this.written = result.type === 'ok' ? text : '';
    // The next leader writes the record at the beginning of its term.
    if (result.type !== 'ok' && isLeading())
      log.warn({ outcome: result.type, problem: result.message }, 'cannot record the installed CRDs');
  }

  private object(data: Readonly<Record<string, string>>): WireObject {
    const labels = { 'app.kubernetes.io/name': 'sallyport', 'app.kubernetes.io/managed-by': 'sallyport' };
    const { namespace } = this.options;
    return {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace, name: 'sallyport-installed-crds', labels },
      data,
    };
  }
}

/** `v1.7.0 experimental` */
function encode({ annotations }: Annotated): string {
  return `${annotations[bundleVersionAnnotation] ?? ''} ${annotations[bundleChannelAnnotation] ?? ''}`;
}

function decode(object: WireObject | undefined): ReadonlyMap<string, Annotated> {
  return new Map(
    Object.entries(recordOf(object?.['data'])).map(([name, text]) => {
      const [version = '', channel = ''] = typeof text === 'string' ? text.split(' ') : [];
      return [name, { annotations: { [bundleVersionAnnotation]: version, [bundleChannelAnnotation]: channel } }];
    }),
  );
}
