import { signTrace, traceField, traceKeyOf } from '../../channel/trace.ts';
import { readSecret } from '../../cluster/secret-store.ts';
import { settledDecision, type ArrivingRequest, type Outcome } from '../../core/routing/decision/outcome.ts';
import { isRecord, listOf, recordOf } from '../../core/text/record.ts';
import type { SourceDocument } from '../../files/document.ts';
import { createClient, loadCredentials, type CredentialSource } from '../../kubernetes/index.ts';
import type { TraceReport } from '../../proxy/handling/traced-stream.ts';
import { shortestTraceSecret, traceSecretName } from '../names.ts';
import { UsageError } from '../usage-error.ts';
import { sendTraced } from './trace-request.ts';

/** Settings of a trace. */
export interface TraceOptions {
  readonly cluster: CredentialSource;
  /** The namespace of the controller, with the Secret. */
  readonly namespace: string;
  /** Where data planes listen, instead of the address of the Gateway. */
  readonly address: { readonly host: string; readonly port: number } | undefined;
  /** Whether any certificate is accepted. */
  readonly insecure: boolean;
  /** Names and values of the fields of the request, flat. */
  readonly fields: readonly string[];
}

/** What a data plane did with a request. */
export interface TraceResult {
  /** The status of the response. `undefined` without a response. */
  readonly status?: number;
  readonly report?: TraceReport;
  /** How it differs from the prediction, in sentences; empty if it does not. */
  readonly differences: readonly string[];
  /** For people. */
  readonly lines: readonly string[];
}

/**
 * Sends the request to each Gateway that has a listener for it, with a signature for that Gateway, and compares the decision of the data
 * plane with the prediction.
 *
 * @throws UsageError if the key cannot be read
 */
export async function traceAll(
  outcomes: readonly Outcome[],
  { request, documents }: { readonly request: ArrivingRequest; readonly documents: readonly SourceDocument[] },
  options: TraceOptions,
): Promise<ReadonlyMap<Outcome, TraceResult>> {
  const secret = longEnough(await readTraceSecret(options));
  const results = new Map<Outcome, TraceResult>();
  for (const outcome of outcomes) {
    if (outcome.listener === undefined) continue;
    const place = options.address ?? addressOf(outcome.gateway, request.port, documents);
    results.set(
      outcome,
      place === undefined
        ? failed('The Gateway has no address. Use --address.')
        : await traceOne(outcome, { request, place, key: traceKeyOf(secret, outcome.gateway) }, options),
    );
  }
  return results;
}

async function readTraceSecret({ cluster, namespace }: TraceOptions): Promise<string> {
  const client = createClient(await loadCredentials(cluster));
  try {
    const stored = await readSecret(client, { namespace, name: traceSecretName });
    const key = stored?.data['key'];
    if (key !== undefined) return key;
  } catch (error) {
    throw new UsageError(`Cannot read the key for traces: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    await client.close();
  }
  throw new UsageError(
    `Secret "${namespace}/${traceSecretName}" with a key for traces not found. Create it: kubectl create secret generic ${traceSecretName} -n ${namespace} --from-literal=key=$(openssl rand -hex 32)`,
  );
}

/** The controller ignores shorter keys. */
function longEnough(key: string): string {
  if (key.length >= shortestTraceSecret) return key;
  throw new UsageError(
    `The key in Secret "${traceSecretName}" must have at least ${shortestTraceSecret} characters. Create it with openssl rand -hex 32.`,
  );
}

interface Place {
  readonly host: string;
  readonly port: number;
}

function addressOf(gateway: string, port: number, documents: readonly SourceDocument[]): Place | undefined {
  const object = documents
    .map(({ value }) => recordOf(value))
    .find(({ kind, metadata }) => {
      const { namespace, name } = recordOf(metadata);
      return kind === 'Gateway' && `${String(namespace)}/${String(name)}` === gateway;
    });
  const first = listOf(recordOf(object?.['status'])['addresses']).find(isRecord);
  const host = first?.['value'];
  return typeof host === 'string' ? { host, port } : undefined;
}

async function traceOne(
  outcome: Outcome,
  { request, place, key }: { readonly request: ArrivingRequest; readonly place: Place; readonly key: string },
  { fields, insecure }: TraceOptions,
): Promise<TraceResult> {
  try {
    const { status, field } = await sendTraced({
      address: place.host,
      port: place.port,
      serverName: request.serverName,
      insecure,
      method: request.method,
      target: `${request.path}${request.search}`,
      authority: request.authority,
      fields: [...fields, traceField, signTrace(key, request, Date.now())],
    });
    const report = readReport(field(traceField));
    if (report === undefined)
      return {
        status,
        ...failed(
          `Status ${status} without a trace: the data plane does not have the key yet, its clock differs by more than a minute, or something in front of it has removed the field.`,
        ),
      };
    return compared(outcome, status, report);
  } catch (error) {
    return failed(
      `Cannot send the request to ${place.host} port ${place.port}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function failed(problem: string): TraceResult {
  return { differences: [problem], lines: [`trace: ${problem}`] };
}

function readReport(value: string | undefined): TraceReport | undefined {
  if (value === undefined) return undefined;
  try {
    const json: unknown = JSON.parse(value);
    return isRecord(json) ? json : undefined;
  } catch {
    return undefined;
  }
}

/** Compares the decision of a data plane with the prediction. */
export function compared(outcome: Outcome, status: number, report: TraceReport): TraceResult {
  const predicted = predictionOf(outcome, report);
  const differences = [
    ...different('listener', predicted.listener, report.listener),
    ...different('route', predicted.route, report.route),
    ...different('generation of the route', predicted.routeGeneration, report.routeGeneration),
    ...different('rule', predicted.rule, report.rule),
    ...different('match', predicted.match, report.match),
    ...(predicted.backends.includes(report.backend) || report.reason === 'authorization-denied'
      ? []
      : different('backend', predicted.backends.join(' or '), report.backend)),
    ...(predicted.reasons.includes(report.reason) || (report.reason === 'authorization-denied' && predicted.asks)
      ? []
      : different('reason', predicted.reasons.join(' or '), report.reason)),
  ];
  const route = report.route === undefined ? [] : [`${report.route} rule ${report.rule} match ${report.match}`];
  const backend = report.backend === undefined ? [] : [`backend ${report.backend}`];
  const upstream = report.upstream === undefined ? [] : [`endpoint ${report.upstream}`];
  const reason = report.reason === undefined ? [] : [`answered by the proxy: ${report.reason}`];
  const told = [`status ${status}`, ...route, ...backend, ...upstream, ...reason].join(', ');
  return {
    status,
    report,
    differences,
    lines: [
      `trace: ${told}${differences.length === 0 ? ': as predicted' : ''}`,
      ...differences.map((difference) => `trace differs: ${difference}`),
    ],
  };
}

function predictionOf(outcome: Outcome, { route, reason }: TraceReport) {
  const decision = settledDecision(outcome.decision);
  // A filter of the listener denies requests before they are routed.
  const isDenied = outcome.filters.length > 0 && route === undefined && reason === 'authorization-denied';
  const taken = 'taken' in decision && !isDenied ? decision.taken.matched : undefined;
  const reasons: readonly (string | undefined)[] =
    decision.type === 'answer'
      ? [decision.reason]
      : outcome.shares.map(({ result }) => (result.type === 'answer' ? result.reason : undefined));
  return {
    listener: outcome.listener?.key,
    route: taken?.route.key.replace(/^route\//, ''),
    routeGeneration: taken?.route.generation,
    rule: taken?.rule.index,
    match: taken?.match.index,
    backends: outcome.shares.length === 0 ? [undefined] : outcome.shares.map(({ backend }) => backend?.label),
    reasons: reasons.length === 0 ? [undefined] : reasons,
    asks: outcome.authorization !== undefined || outcome.filters.length > 0,
  };
}

function different(
  name: string,
  predicted: string | number | undefined,
  actual: string | number | undefined,
): readonly string[] {
  return predicted === actual
    ? []
    : [`${name} ${actual ?? 'none'}, predicted ${predicted === undefined || predicted === '' ? 'none' : predicted}`];
}
