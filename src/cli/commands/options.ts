import { hostname } from 'node:os';
import { InvalidArgumentError, Option, type CommanderError } from 'commander';
import { profiles } from '../../core/rules/engine/rule.ts';
import type { Minor } from '../../core/schema/availability.ts';
import { parseBundleVersion, releases } from '../../core/schema/bundle.ts';
import { formatDuration, parseDuration } from '../../core/text/duration.ts';
import { parseAddressRange, parseIpAddress, type AddressRange } from '../../core/text/ip-address.ts';
import type { Parsed } from '../../core/text/proxy-protocol.ts';
import type { CredentialSource } from '../../kubernetes/index.ts';
import type { LogLevel } from '../../telemetry/index.ts';
import { UsageError } from '../usage-error.ts';

/** The option `--cluster`. */
export function clusterOption(): Option {
  return new Option('--cluster', 'read the objects of a cluster; files take precedence');
}

/** The option `--kubeconfig`, as in kubectl. */
export function kubeconfigOption(): Option {
  return new Option('--kubeconfig <file>', 'kubeconfig file; default: the one that kubectl uses');
}

/** The option `--context`. */
export function contextOption(): Option {
  return new Option('--context <name>', 'context of the kubeconfig');
}

/** The option `--namespace` of commands that read objects. */
export function objectNamespaceOption(): Option {
  return new Option('-n, --namespace <name>', 'report only objects of this namespace; all others are context');
}

/** The option `--gateway-class` of commands that evaluate how requests are routed. */
export function gatewayClassOption(): Option {
  return new Option(
    '--gateway-class <name>',
    'GatewayClass of Sallyport, for a cluster whose GatewayClasses you may not list; may be repeated',
  )
    .argParser(collect)
    .default([], 'every class that a Gateway names');
}

/** How a command that reads objects finds its cluster. */
export interface ClusterArguments {
  readonly cluster?: true | undefined;
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

/**
 * @returns how to connect to the cluster, `undefined` without `--cluster`
 * @throws UsageError for an option that has no effect without `--cluster`
 */
export function clusterOf({ cluster, kubeconfig, context }: ClusterArguments): CredentialSource | undefined {
  if (cluster) return credentialsOf(kubeconfig, context);
  if (kubeconfig !== undefined) throw new UsageError('--kubeconfig requires --cluster');
  if (context !== undefined) throw new UsageError('--context requires --cluster');
  return undefined;
}

/** @returns how to connect to the cluster of a kubeconfig; without both values, the cluster that kubectl uses */
export function credentialsOf(kubeconfig: string | undefined, context: string | undefined): CredentialSource {
  if (kubeconfig === undefined && context === undefined) return 'default';
  return { ...(kubeconfig === undefined ? {} : { kubeconfig }), ...(context === undefined ? {} : { context }) };
}

/** Parses a bundle version such as `1.7` or `v1.7.0`. */
export function parseMinor(text: string): Minor {
  const version = parseBundleVersion(text);
  if (!version.ok) throw new InvalidArgumentError(asSentence(version.problem));
  return version.minor;
}

/** Parses a bundle release. @returns the minor version and the release: the last patch release if the text names only the minor version */
export function parseRelease(text: string): Release {
  const minor = parseMinor(text);
  const isPatch = /^v?\d+\.\d+\.\d+/.test(text);
  return { minor, version: isPatch ? `v${text.replace(/^v/, '')}` : releases[minor] };
}

/** A release of the Gateway API. */
export interface Release {
  readonly minor: Minor;
  /** `v1.7.0` */
  readonly version: string;
}

function asSentence(problem: string): string {
  return `${problem[0]?.toUpperCase()}${problem.slice(1)}.`;
}

/** An option with a duration as its value. commander passes milliseconds to the command. */
export function durationOption(flags: string, description: string, milliseconds: number): Option {
  const written = formatDuration(milliseconds);
  return new Option(flags, description)
    .argParser(parseMilliseconds)
    .default(milliseconds, written.ok ? written.text : undefined);
}

function parseMilliseconds(text: string): number {
  const duration = parseDuration(text);
  if (!duration.ok) throw new InvalidArgumentError(asSentence(duration.problem));
  return duration.milliseconds;
}

/** The option `--namespace`. */
export function namespaceOption(flags = '--namespace <name>'): Option {
  return new Option(flags, 'namespace of the installation').env('POD_NAMESPACE').default('sallyport-system');
}

/** The option `--identity`. */
export function identityOption(): Option {
  return new Option('--identity <name>', 'name of this replica; must be unique')
    .env('POD_NAME')
    .default(hostname(), 'host name');
}

/** Listed here so that commands without a log do not load the logger. */
const logLevels: readonly LogLevel[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/** The option `--log-level`. */
export function logLevelOption(): Option {
  return new Option('--log-level <level>', 'minimum log level').choices([...logLevels]).default('info');
}

/** The option `--profile`, without a default. */
export function optionalProfileOption(): Option {
  return new Option('--profile <name>', 'effect of findings in admission').choices([...profiles]);
}

/** The option `--profile`. */
export function profileOption(): Option {
  return optionalProfileOption().default('standard');
}

/** The option `--settings` of commands that judge objects. The settings replace a profile. */
export function settingsOption(): Option {
  return new Option(
    '--settings <file>',
    'settings of the webhook: profiles, effects, exempt namespaces and hostnamePolicies',
  ).conflicts('profile');
}

/** The option `--settings` of commands that route requests. */
export function routingSettingsOption(): Option {
  return new Option(
    '--settings <file>',
    'settings file, whose hostnamePolicies apply; default with --cluster: the settings of the controller',
  );
}

/** The option `--webhook-namespace`. */
export function webhookNamespaceOption(): Option {
  return new Option(
    '--webhook-namespace <name>',
    'namespace of the webhook, whose settings apply with --cluster unless --profile or --settings is used',
  ).default('sallyport-system');
}

/** The option `--controller-namespace`. */
export function controllerNamespaceOption(): Option {
  return new Option('--controller-namespace <name>', 'namespace of the controller, for --cluster').default(
    'sallyport-system',
  );
}

/** Collects the values of an option that may be repeated. */
export function collect(value: string, previous: readonly string[] | undefined): readonly string[] {
  return [...(previous ?? []), value];
}

/** An option that may be repeated, with a list of texts as its value. */
export function repeatableOption(flags: string, description: string): Option {
  return new Option(flags, `${description}; may be repeated`).argParser(collect).default([], 'none');
}

/** Collects the address ranges of an option that may be repeated. */
export function collectRange(text: string, previous: readonly AddressRange[] | undefined): readonly AddressRange[] {
  const parsed = parseAddressRange(text);
  if (!parsed.ok) throw new InvalidArgumentError(asSentence(parsed.problem));
  return [...(previous ?? []), parsed.range];
}

/** Wraps a parser that returns problems into one for commander. */
export function parseText<T>(parse: (text: string) => Parsed<T>): (text: string) => T {
  return (text) => {
    const parsed = parse(text);
    if (!parsed.ok) throw new InvalidArgumentError(asSentence(parsed.problem));
    return parsed.value;
  };
}

/** Validates an IP address. */
export function parseAddress(text: string): string {
  if (parseIpAddress(text) === undefined)
    throw new InvalidArgumentError('Use an IP address, for example 192.0.2.10, 0.0.0.0 or ::.');
  return text;
}

/** Parses a port from 0 to 65535. */
export function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535) throw new InvalidArgumentError('Use a port from 0 to 65535.');
  return port;
}

/** Parses an integer from 1 to 999999. */
export function parseCount(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('Use a number from 1 to 999999.');
  return Number(text);
}

/** Parses a number of workers. */
export function parseWorkers(text: string): number {
  if (!/^[1-9]\d?$/.test(text) || Number(text) > 64) throw new InvalidArgumentError('Use a number from 1 to 64.');
  return Number(text);
}

/** Validates a value of the form `host:port`. */
export function parseHostAndPort(text: string): string {
  if (!/^([^\s:/@]+|\[[0-9a-f:.]+\]):\d{1,5}$/i.test(text))
    throw new InvalidArgumentError('Use host:port, for example sallyport-controller.sallyport-system.svc:8443.');
  return text;
}

/** Validates a value of the form `namespace/name`. */
export function parseQualifiedName(text: string): string {
  if (!/^[^\s/]+\/[^\s/]+$/.test(text)) throw new InvalidArgumentError('Use namespace/name, for example shop/web.');
  return text;
}

/** Parses whole seconds. */
export function parseSeconds(text: string): number {
  if (!/^\d{1,4}$/.test(text)) throw new InvalidArgumentError('Use whole seconds, for example 10.');
  return Number(text);
}

/** The exit code of commands that examine objects or a cluster, if there is no result. */
export const notDone = 2;

/** Ends a command with invalid arguments, and with 0 after its help. For commands whose exit code 1 is a result. */
export function exitWithoutResult({ exitCode }: CommanderError): never {
  process.exit(exitCode === 0 ? 0 : notDone);
}
