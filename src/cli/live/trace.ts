import { signTrace, traceField, traceKeyOf, type TracedConnection, type TraceReport } from '../../channel/trace.ts';
import { readSecret } from '../../cluster/secret-store.ts';
import type { Layer4Outcome } from '../../core/routing/decision/layer4-outcome.ts';
import type { ArrivingRequest, Outcome } from '../../core/routing/decision/outcome.ts';
import { isRecord } from '../../core/text/record.ts';
import { statusAddresses } from '../report/explain/gateway-addresses.ts';
import type { SourceDocument } from '../../files/document.ts';
import { createClient, loadCredentials, type CredentialSource } from '../../kubernetes/index.ts';
import { shortestTraceSecret, traceSecretName } from '../names.ts';
import { UsageError } from '../usage-error.ts';
import { compareConnection, compareRequest, type TraceResult } from './trace-comparison.ts';
import { sendConnectionTrace, type DataPlaneAddress } from './trace-connection.ts';
import { sendTraced } from './trace-request.ts';
import { wallNow } from '../../time/clock.ts';

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

/** The outcomes to trace, and the request and the connection that they are about. */
export interface Predicted {
  readonly request: ArrivingRequest | undefined;
  readonly requests: readonly Outcome[];
  readonly connection: TracedConnection | undefined;
  readonly connections: readonly Layer4Outcome[];
  readonly documents: readonly SourceDocument[];
}

/**
 * Sends the request or connection to each Gateway that has a listener for it, with a signature for that Gateway, and compares the decision
 * of the data plane with the prediction.
 *
 * @throws UsageError if the key cannot be read
 */
export async function traceAll(
  { request, requests, connection, connections, documents }: Predicted,
  options: TraceOptions,
): Promise<ReadonlyMap<Outcome | Layer4Outcome, TraceResult>> {
  const secret = longEnough(await readTraceSecret(options));
  const results = new Map<Outcome | Layer4Outcome, TraceResult>();
  const trace = async (
    outcome: Outcome | Layer4Outcome,
    port: number,
    send: (call: Call) => Promise<TraceResult>,
  ): Promise<void> => {
    if (outcome.listener === undefined) return;
    const target = options.address ?? addressOf(outcome.gateway, port, documents);
    const key = traceKeyOf(secret, outcome.gateway);
    results.set(
      outcome,
      target === undefined
        ? failed('The Gateway has no address. Use --address.')
        : await send({ target, key, options }),
    );
  };
  if (request !== undefined)
    for (const outcome of requests) await trace(outcome, request.port, (call) => traceRequest(outcome, request, call));
  if (connection !== undefined)
    for (const outcome of connections)
      await trace(outcome, connection.port, (call) => traceConnection(outcome, connection, call));
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

/** Where and how to send a trace. */
interface Call {
  readonly target: DataPlaneAddress;
  /** The key of the Gateway. */
  readonly key: string;
  readonly options: TraceOptions;
}

function addressOf(gateway: string, port: number, documents: readonly SourceDocument[]): DataPlaneAddress | undefined {
  const host = statusAddresses(gateway, documents)[0]?.['value'];
  return typeof host === 'string' ? { host, port } : undefined;
}

async function traceRequest(
  outcome: Outcome,
  request: ArrivingRequest,
  { target, key, options }: Call,
): Promise<TraceResult> {
  try {
    const { status, field } = await sendTraced({
      address: target.host,
      port: target.port,
      serverName: request.serverName,
      insecure: options.insecure,
      method: request.method,
      target: `${request.path}${request.search}`,
      authority: request.authority,
      fields: [...options.fields, traceField, signTrace(key, request, wallNow())],
    });
    const report = readReport(field(traceField));
    if (report === undefined)
      return {
        status,
        ...failed(
          `Status ${status} without a trace: ${withoutKey}, or something in front of it has removed the field.`,
        ),
      };
    return compareRequest(outcome, status, report);
  } catch (error) {
    return failed(unsent('request', target, error));
  }
}

async function traceConnection(
  outcome: Layer4Outcome,
  { protocol, port, serverName }: TracedConnection,
  { target, key }: Call,
): Promise<TraceResult> {
  try {
    const report = await sendConnectionTrace({ ...target, connection: { protocol, port, serverName }, key });
    return report === undefined
      ? failed(
          `No trace in the answer: ${withoutKey}, it has no ${protocol} listener on port ${port} yet, or another server has answered.`,
        )
      : compareConnection(outcome, report);
  } catch (error) {
    return failed(unsent('trace', target, error));
  }
}

const withoutKey = 'the data plane does not have the key yet, its clock differs by more than a minute';

function unsent(sent: 'request' | 'trace', { host, port }: DataPlaneAddress, error: unknown): string {
  return `Cannot send the ${sent} to ${host} port ${port}: ${error instanceof Error ? error.message : String(error)}`;
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
