import type { Limit } from '../counters.ts';
import { monotonicNow } from '../../time/clock.ts';
import type { FrameHead } from './frame-reader.ts';
import { frameFlags, frameTypes } from './protocol.ts';

/** The burst of frames of a kind that a peer may send, and the rate per second afterwards. */
interface Allowance {
  readonly limit: Limit;
  readonly burst: number;
  readonly rate: number;
  /** Whether bytes sent to the peer, and requests, allow further frames. */
  readonly isEarned: boolean;
}

interface Allowances {
  /** By frame type. */
  readonly byType: Readonly<Record<number, Allowance>>;
  /** Bytes of late frames, besides those that closed streams allow. */
  readonly lateBytes: number;
}

/** Frames without effect count as this type: acknowledgements, unknown frames, and repetitions of it. */
const ignored = frameTypes.goaway;

const ofClients: Allowances['byType'] = {
  [frameTypes.data]: { limit: 'http2-empty-data', burst: 1_000, rate: 100, isEarned: false },
  [frameTypes.priority]: { limit: 'http2-priority', burst: 1_000, rate: 100, isEarned: true },
  [frameTypes.reset]: { limit: 'http2-resets', burst: 512, rate: 128, isEarned: false },
  [frameTypes.settings]: { limit: 'http2-settings', burst: 100, rate: 10, isEarned: false },
  [frameTypes.ping]: { limit: 'http2-pings', burst: 1_000, rate: 100, isEarned: true },
  [frameTypes.windowUpdate]: { limit: 'http2-window-updates', burst: 1_000, rate: 100, isEarned: true },
};

/**
 * A backend may reset each request, and send an empty DATA frame with each response. Unlike those of clients, its frames are not read in
 * fair turns, so that it must not send frames without effect forever.
 */
const ofBackends: Allowances['byType'] = {
  ...ofClients,
  [frameTypes.data]: { limit: 'http2-empty-data', burst: 1_000, rate: 100, isEarned: true },
  [frameTypes.reset]: { limit: 'http2-resets', burst: 512, rate: 128, isEarned: true },
  [ignored]: { limit: 'http2-ignored', burst: 1_000, rate: 100, isEarned: false },
};

/** What the frames of each side may be. */
export const allowances = {
  ofClients: { byType: ofClients, lateBytes: Infinity },
  ofBackends: { byType: ofBackends, lateBytes: 1024 * 1024 },
} as const satisfies Record<string, Allowances>;

/** Bytes that a late header section counts at least, because decoding it costs more than skipping DATA. */
const leastHeaders = 1_024;

/** Frames that a peer earns with each write to it, and the bytes that earn one more, because it must update windows. */
const earnedPerWrite = 4;
const bytesPerEarned = 512;

/** Counts the frames of one peer by kind. */
export class FrameLimits {
  private readonly exceeded: (limit: Limit) => void;
  private readonly allowances: Allowances['byType'];
  /** Remaining frames of each kind, at `countedAt`. */
  private readonly left: number[] = [];
  private countedAt = monotonicNow();
  private earned = 0;
  /** Bytes of late frames that the peer may still send. */
  private late: number;

  /** `exceeded` is called when the peer has sent too many frames of a kind. */
  constructor(exceeded: (limit: Limit) => void, allowed: Allowances = allowances.ofClients) {
    this.exceeded = exceeded;
    this.allowances = allowed.byType;
    this.late = allowed.lateBytes;
  }

  /** Counts a frame that the peer has sent. Empty DATA is counted with `countEmptyData`. */
  count({ type, flags }: FrameHead): void {
    if (type === frameTypes.data) return;
    const mayAcknowledge = type === frameTypes.settings || type === frameTypes.ping;
    const isAcknowledgement = mayAcknowledge && (flags & frameFlags.acknowledgement) !== 0;
    this.spend(isAcknowledgement || type > frameTypes.continuation ? ignored : type);
  }

  /** This side has closed a stream, so that frames of it may be in transit: at most `bytes`. */
  closed(bytes: number): void {
    this.late += bytes;
  }

  /** Counts a DATA frame of `bytes` that has arrived for a stream which this side has closed. */
  countLateData(bytes: number): void {
    this.late -= bytes;
    if (this.late < 0) this.exceeded('http2-ignored');
  }

  /** Counts a header section of `bytes` that has arrived for a stream which this side has closed. */
  countLateHeaders(bytes: number): void {
    this.countLateData(Math.max(bytes, leastHeaders));
  }

  /** Counts a DATA frame that carries nothing and does not end its stream. */
  countEmptyData(): void {
    this.spend(frameTypes.data);
  }

  /** Counts a stream that the peer made this side reset, like one that the peer itself resets. */
  countReset(): void {
    this.spend(frameTypes.reset);
  }

  /** A request was sent to the peer. */
  requested(): void {
    this.earned += 1;
  }

  /** Bytes were written to the peer. */
  wrote(bytes: number): void {
    this.earned += earnedPerWrite + bytes / bytesPerEarned;
  }

  private spend(type: number): void {
    const allowance = this.allowances[type];
    if (allowance === undefined) return;
    let left = (this.left[type] ?? allowance.burst) - 1;
    if (left < 0) {
      this.refill();
      left = (this.left[type] ?? allowance.burst) - 1;
    }
    this.left[type] = left;
    if (left < 0) this.exceeded(allowance.limit);
  }

  /** Adds the frames earned by time and writes since the last call. */
  private refill(): void {
    const now = monotonicNow();
    const seconds = (now - this.countedAt) / 1_000;
    for (const [type, left] of this.left.entries()) {
      const allowance = this.allowances[type];
      if (allowance !== undefined)
        this.left[type] = Math.min(
          allowance.burst,
          left + seconds * allowance.rate + (allowance.isEarned ? this.earned : 0),
        );
    }
    this.countedAt = now;
    this.earned = 0;
  }
}
