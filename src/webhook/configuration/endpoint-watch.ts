import { Reflector, type ReflectorOptions } from '../../kubernetes/index.ts';
import { slicesOf, type ServiceName } from './endpoints.ts';

/** Watches the EndpointSlices of a Service until stopped. Stores nothing: it only notices that they may have changed. */
export class EndpointWatch {
  private readonly reflector: Reflector;
  private readonly listeners = new Set<() => void>();

  /** Starts immediately. */
  constructor(options: Pick<ReflectorOptions, 'client' | 'clock' | 'log'>, service: ServiceName) {
    this.reflector = new Reflector({
      ...options,
      selection: slicesOf(service),
      onEvents: () => this.listeners.forEach((listener) => listener()),
    });
  }

  /** Whether changes are noticed at present, as far as known. */
  get isLive(): boolean {
    return this.reflector.synced && this.reflector.problem === undefined;
  }

  /** Calls `listener` after each change. Returns a function that ends this. */
  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  stop(): Promise<void> {
    return this.reflector.stop();
  }
}
