import { Reflector, type ApiClient, type ResourceType } from '../kubernetes/index.ts';
import { systemClock } from '../time/clock.ts';
import type { Logger } from '../telemetry/index.ts';

/** A client, and a logger for failures of watches. */
export interface ClusterAccess {
  readonly client: ApiClient;
  readonly log: Logger;
}

/** Follows one object and reports its changes. Stops with the last listener. */
export class FollowedObject {
  private readonly listeners = new Set<() => void>();
  private readonly follow: (onEvents: () => void) => Reflector;
  private reflector: Reflector | undefined;

  constructor(
    { client, log }: ClusterAccess,
    selection: { readonly type: ResourceType; readonly namespace?: string; readonly name: string },
  ) {
    const { name, ...where } = selection;
    const named = { ...where, fieldSelector: `metadata.name=${name}`, part: 'metadata' as const };
    this.follow = (onEvents) => new Reflector({ client, clock: systemClock, log, selection: named, onEvents });
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    this.reflector ??= this.follow(() => {
      for (const each of this.listeners) each();
    });
    return () => {
      this.listeners.delete(listener);
      if (this.listeners.size > 0) return;
      void this.reflector?.stop();
      this.reflector = undefined;
    };
  }
}
