/** Logs and metrics. The only importer of pino and prom-client. */
export { createAdmissionMetrics, type AdmissionFacts, type AdmissionMetrics } from './admission.ts';
export { createLogger, type Logger, type LogLevel } from './log.ts';
export { outputTo, type LogDestination } from './log-output.ts';
export {
  createMetrics,
  type Cell,
  type Family,
  type FamilyDefinition,
  type Histogram,
  type Metrics,
  type Reading,
} from './metrics.ts';
