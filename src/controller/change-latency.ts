import type { Metrics } from '../telemetry/index.ts';
import { monotonicNow } from '../time/clock.ts';

/** Observes how long changes take. Times of arrival are those of the monotonic clock. */
export interface ChangeObserver {
  /** A change is on its way to the data planes. */
  sent(arrived: number): void;
  /** All connected data planes of a Gateway have the change in force, and have said so. */
  acknowledged(arrived: number): void;
}

/** In seconds, close to the values that matter: a change is expected in force after a few milliseconds. */
const bounds = [
  0.0005, 0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 1, 5, 10,
];

/** Exposes the durations as a histogram. Call it once per `Metrics`. */
export function observeChanges(metrics: Metrics): ChangeObserver {
  const durations = metrics.histogram(
    {
      name: 'controller_change_duration_seconds',
      help: 'Time from the arrival of an event until its change is sent to the data planes, or acknowledged by all of them.',
      labels: ['until'],
    },
    bounds,
  );
  const [sent, acknowledged] = [durations.at('sent'), durations.at('acknowledged')];
  const since = (arrived: number): number => (monotonicNow() - arrived) / 1000;
  return {
    sent: (arrived) => sent.observe(since(arrived)),
    acknowledged: (arrived) => acknowledged.observe(since(arrived)),
  };
}
