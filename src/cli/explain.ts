import { isServed, outcomesOf, type ArrivingRequest } from '../core/routing/decision/outcome.ts';
import { configuration } from '../core/routing/emit.ts';
import { quote } from '../core/text/display.ts';
import { defaultLimits } from '../proxy/limits.ts';
import { answerFor, type AnswerReason } from '../proxy/reasons.ts';
import { readHttp1Head } from '../proxy/request-head.ts';
import { readObjects, type SourceOptions } from '../sources/objects.ts';
import { Workspace } from '../workspace/workspace.ts';
import { printOutcome } from './report/outcome.ts';
import { assumedBundle, controllerName, policyOf } from './settings.ts';
import { createTerminal } from './terminal.ts';
import { orUsageError, UsageError } from './usage-error.ts';

/** Settings of `sallyport explain`. */
export interface ExplainOptions extends SourceOptions {
  readonly method: string;
  /** `name: value`. */
  readonly header: readonly string[];
  readonly output: 'text' | 'json';
}

/**
 * Reports what each Gateway does with one request: the listener, the rule, the answer or the backends, and why no match with
 * higher precedence applies. The data plane makes the same decision (`decide`).
 *
 * @param url scheme, host and path; the path and the query are used as written
 * @returns the exit code: 0 if every share of such requests reaches a backend or gets an intended answer, otherwise 1
 * @throws UsageError for a URL that is not HTTP
 */
export async function explain(url: string, options: ExplainOptions): Promise<number> {
  const terminal = createTerminal();
  const request = requestOf(url, options);
  if (options.files.length === 0 && options.cluster === undefined) throw new UsageError('No objects: use --files or --cluster.');
  const source = await orUsageError('the source of objects', readObjects(options, { bundle: assumedBundle, controllerName, scope: 'closed' }));
  for (const note of source.notes) process.stderr.write(`${note}\n`);
  const workspace = new Workspace(source.installation, policyOf('standard', source.bundle), [configuration]);
  workspace.update(source.documents);
  const outcomes = typeof request === 'string' ? [] : outcomesOf(workspace.kernel.emitted(configuration).values(), request);
  if (options.output === 'json') {
    terminal.line(JSON.stringify(typeof request === 'string' ? { refused: request, outcomes } : { outcomes }, undefined, 2));
  } else {
    terminal.line(terminal.style('bold', `${options.method.toUpperCase()} ${url}`));
    if (typeof request === 'string') terminal.line(`  Every Gateway answers ${answerFor(request).status}: ${answerFor(request).text}`);
    else if (outcomes.length === 0) terminal.line(`  No listener found for ${request.protocol} on port ${request.port}.`);
    for (const outcome of outcomes) printOutcome(terminal, outcome);
  }
  return outcomes.some(isServed) && outcomes.every((outcome) => outcome.listener === undefined || isServed(outcome)) ? 0 : 1;
}

const httpUrl = /^(?<scheme>https?):\/\/(?<authority>[^/?#]+)(?<target>[^#]*)/i;
const wellKnownPorts = { HTTP: 80, HTTPS: 443 } as const;

/** The request as a data plane reads it, or why a data plane refuses it. */
function requestOf(url: string, { method, header }: ExplainOptions): ArrivingRequest | AnswerReason {
  const { scheme, authority, target } = httpUrl.exec(url)?.groups ?? {};
  if (scheme === undefined || authority === undefined || target === undefined) {
    throw new UsageError(`Invalid URL ${quote(url)}: use a URL such as http://store.example.com/cart`);
  }
  const fields = header.flatMap((line) => [line.slice(0, line.indexOf(':')).trim(), line.slice(line.indexOf(':') + 1).trim()]);
  const namesHost = fields.some((text, position) => position % 2 === 0 && text.toLowerCase() === 'host');
  const rawHeaders = namesHost ? fields : ['host', authority, ...fields];
  const head = readHttp1Head({ httpVersion: '1.1', method: method.toUpperCase(), url: target.startsWith('/') ? target : `/${target}`, rawHeaders }, defaultLimits);
  if (typeof head === 'string') return head;
  const protocol = scheme.toLowerCase() === 'https' ? 'HTTPS' : 'HTTP';
  const [, host = authority, port] = /^(?<host>.*?)(?::(?<port>\d+))?$/.exec(authority) ?? [];
  return {
    protocol,
    port: port === undefined ? wellKnownPorts[protocol] : Number(port),
    serverName: protocol === 'HTTPS' ? host.toLowerCase() : undefined,
    authority: head.authority,
    host: head.host,
    path: head.path,
    search: head.search,
    method: head.method,
    remainingHops: head.remainingHops,
    hops: head.hops,
    header: (name) => head.header(name),
    query: (name) => head.query(name),
  };
}
