import type { NameReport } from '../../proxy/upstream/external-names.ts';
import type { Logger } from '../../telemetry/index.ts';

/** Returns a function that logs problems with the names of external backends. */
export function logNames(log: Logger): (report: NameReport) => void {
  return ({ hostname, problem }) => {
    if (problem === '') log.info({ hostname }, 'the name of an external backend has usable addresses again');
    else
      log.warn(
        { hostname, problem },
        'the name of an external backend cannot be used, or not with all of its addresses',
      );
  };
}
