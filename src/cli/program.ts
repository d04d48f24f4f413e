import { Command, Option } from 'commander';
import { defaultRotationPolicy } from '../certificates/rotation.ts';
import type { Profile } from '../core/rules/engine/rule.ts';
import { channels, type Channel, type Minor } from '../core/schema/availability.ts';
import { parseNetworks, parseProxyVersions } from '../core/text/proxy-protocol.ts';
import type { AuditOptions } from './audit.ts';
import type { CheckOptions } from './check.ts';
import type { ControllerCommandOptions } from './controller.ts';
import type { Installation } from './doctor/facts.ts';
import type { ExplainOptions } from './explain.ts';
import type { ImpactOptions } from './impact.ts';
import { packageVersion } from './package-files.ts';
import type { PreflightOptions } from './preflight.ts';
import type { ProxyCommandOptions } from './proxy.ts';
import { formatNames } from './report/format-names.ts';
import {
  clusterOf, clusterOption, collect, collectRange, contextOption, durationOption, identityOption, logLevelOption, namespaceOption, parseAddress, parseCount, parseHostAndPort, parseMinor, parsePort, parseQualifiedName, parseRelease, parseSeconds, parseText, profileOption, type Release,
} from './options.ts';
import { isUsageError, UsageError } from './usage-error.ts';
import type { WatchdogCommandOptions } from './watchdog.ts';
import type { WebhookCommandOptions } from './webhook.ts';

/** Parses the arguments and runs the command. A command is loaded only when it is used. */
export async function main(argv: readonly string[]): Promise<void> {
  const program = new Command('sallyport')
    .description('Validates, explains and serves Gateway API objects')
    .option('--version', 'print the version and exit')
    .on('option:version', () => {
      process.stdout.write(`${packageVersion()}\n`);
      process.exit();
    })
    .showHelpAfterError('(add --help for all options)');

  program
    .command('run')
    .description('validate and serve Gateway API objects from files on this machine; reloads on change')
    .requiredOption('-f, --files <path>', 'YAML or JSON file, or folder of files; may be repeated', collect)
    .option('--demo', 'start an echo server for each endpoint on a loopback address', false)
    .option('--listen <address>', 'IP address for Gateways without spec.addresses, with the ports of their listeners; default: a loopback address for each Gateway', parseAddress)
    .option('--no-access-log', 'do not log requests')
    .addOption(profileOption())
    .option('--webhook-port <port>', 'webhook port; 0 for any free port', parsePort, 9443)
    .option('--probe-port <port>', 'port for health checks and metrics; 0 for any free port', parsePort, 9090)
    .option('--grace <seconds>', 'time that requests in flight get on shutdown', parseSeconds, 10)
    .action(async (options: RunArguments) => {
      const { run } = await import('./run.ts');
      const running = await run({ ...options, grace: options.grace * 1000 });
      await untilStopped();
      await running.stop();
    });

  program
    .command('check')
    .description('validate objects in files like the webhook does; exit code 1 if an object would be denied, 2 if the check failed')
    .argument('[path...]', 'files or folders of YAML or JSON; - for standard input')
    .addOption(profileOption())
    .option('--bundle <version>', 'CRD release to validate against', parseMinor, '1.7')
    .addOption(new Option('--channel <name>', 'CRD release channel').choices([...channels]).default('standard'))
    .addOption(new Option('-o, --output <format>', 'output format').choices([...formatNames]).default('text'))
    .addOption(clusterOption().conflicts(['bundle', 'channel', 'closed', 'stateless']))
    .addOption(contextOption())
    .option('--closed', 'report references to objects that are not in the files', false)
    .option('--stateless', 'validate each object by itself, without references to other objects; uses bounded memory', false)
    .option('--baseline <file>', 'ignore the findings that are listed in this file')
    .addOption(new Option('--write-baseline <file>', 'write the findings to this file, for use with --baseline').conflicts('baseline'))
    .addOption(new Option('--explain <rule>', 'print the documentation of a rule and exit'))
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : notDone))
    .action(async (paths: string[], options: CheckArguments) => {
      // Until the result is known: an internal error must not look like a finding.
      process.exitCode = notDone;
      process.exitCode = await runCheck(paths, options);
    });

  program
    .command('explain')
    .description('show how a request or connection is routed: listener, rule, backends, and why other matches do not apply')
    .argument('<url>', 'for example http://store.example.com/cart, tls://db.example.com:5432, or tcp://front:5432 and udp://front:53 for the Gateway front')
    .option('-f, --files <path>', 'YAML or JSON file, or folder of files; may be repeated', collect, [])
    .addOption(clusterOption())
    .addOption(contextOption())
    .option('-X, --method <method>', 'request method', 'GET')
    .option('-H, --header <line>', 'request header; may be repeated', collect, [])
    .addOption(new Option('-o, --output <format>', 'output format').choices(['text', 'json']).default('text'))
    .action(async (url: string, { cluster, context, ...options }: ExplainArguments) => {
      const { explain } = await import('./explain.ts');
      process.exitCode = await explain(url, { ...options, cluster: clusterOf(cluster, context) });
    });

  program
    .command('impact')
    .description('show the effect of a change before it happens: statuses that change, requests that are routed differently')
    .option('-f, --files <path>', 'objects before the change: YAML or JSON file, or folder of files; may be repeated', collect, [])
    .addOption(clusterOption())
    .addOption(contextOption())
    .option('--change <file>', 'file or folder of objects to apply; may be repeated', collect, [])
    .option('--delete <object>', 'object to delete, as KIND/NAMESPACE/NAME or KIND/NAME; may be repeated', collect, [])
    .addOption(new Option('--fail-on <effect>', 'exit with code 1 if something breaks, if anything changes, or never').choices(['broken', 'changed', 'never']).default('broken'))
    .addOption(new Option('-o, --output <format>', 'output format').choices(['text', 'json', 'markdown']).default('text'))
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : notDone))
    .action(async ({ cluster, context, ...options }: ImpactArguments) => {
      process.exitCode = notDone;
      const { impact } = await import('./impact.ts');
      process.exitCode = await impact({ ...options, cluster: clusterOf(cluster, context) });
    });

  program
    .command('audit')
    .description('validate all stored objects of a cluster by the current rules; exit code 1 if an object would be denied, 2 if the audit failed')
    .addOption(clusterOption())
    .addOption(contextOption())
    .option('-f, --files <path>', 'YAML or JSON file, or folder of files; may be repeated', collect, [])
    .addOption(profileOption())
    .option('--since <report>', 'report only findings that an earlier report (-o json) does not have, and list those that are gone')
    .addOption(new Option('-o, --output <format>', 'output format').choices([...formatNames]).default('text'))
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : notDone))
    .action(async ({ cluster, context, since, ...options }: AuditArguments) => {
      process.exitCode = notDone;
      const { audit } = await import('./audit.ts');
      process.exitCode = await audit({ ...options, since, cluster: clusterOf(cluster, context) });
    });

  program
    .command('preflight')
    .description('show the effect of changing the Gateway API CRDs before it happens: what blocks the change, which objects are rejected, which fields are lost')
    .option('--to <version>', 'release to change to, for example v1.7.0', parseRelease)
    .addOption(new Option('--channel <name>', 'release channel to change to').choices([...channels]).default('standard'))
    .option('-f, --files <path>', 'YAML or JSON file, or folder of files; may be repeated', collect, [])
    .addOption(clusterOption())
    .addOption(contextOption())
    .option('--since <report>', 'compare the routes with an earlier report (-o json); exit code 1 if a route has lost Accepted')
    .addOption(new Option('-o, --output <format>', 'output format').choices(['text', 'json', 'markdown']).default('text'))
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : notDone))
    .action(async ({ cluster, context, to, channel, ...options }: PreflightArguments) => {
      process.exitCode = notDone;
      if (to === undefined && options.since === undefined) throw new UsageError('No target: use --to, for example --to v1.7.0, or --since to compare with an earlier report.');
      const { preflight } = await import('./preflight.ts');
      const target = to && { bundle: { minor: to.minor, channel }, version: to.version };
      process.exitCode = await preflight({ files: options.files, since: options.since, output: options.output, target, cluster: clusterOf(cluster, context) });
    });

  program
    .command('webhook')
    .description('run the admission webhook, in a pod or with the current kubeconfig')
    .option('--settings <file>', 'settings file; reloaded on change')
    .option('--port <port>', 'webhook port; 0 for any free port', parsePort, 10_250)
    .option('--probe-port <port>', 'port for health checks and metrics; 0 for any free port', parsePort, 8080)
    .option('--drain <seconds>', 'time to keep serving after the signal to stop', parseSeconds, 20)
    .addOption(namespaceOption())
    .option('--service <name>', 'Service that the API server calls', 'sallyport-webhook')
    .option('--configuration <name>', 'ValidatingWebhookConfiguration to manage', 'sallyport-webhook')
    .option('--secret <name>', 'Secret that holds the certificate authority', 'sallyport-authority')
    .option('--lease <name>', 'Lease for the election of the replica that renews the authority', 'sallyport-webhook')
    .addOption(identityOption())
    .option('--certificate-file <file>', 'serving certificate, instead of one from the built-in authority; requires --private-key-file; reloaded on change')
    .option('--private-key-file <file>', 'private key of the serving certificate')
    .addOption(durationOption('--authority-lifetime <duration>', 'lifetime of the built-in authority; it is renewed after two thirds', defaultRotationPolicy.authorityLifetime))
    .addOption(durationOption('--certificate-lifetime <duration>', 'lifetime of certificates from the built-in authority; they are renewed after two thirds', defaultRotationPolicy.leafLifetime))
    .addOption(durationOption('--propagation-time <duration>', 'time between publishing a new authority and using it', defaultRotationPolicy.propagation))
    .addOption(durationOption('--clock-skew <duration>', 'largest clock difference in the cluster', defaultRotationPolicy.clockSkew))
    .addOption(logLevelOption())
    .action(async (options: WebhookArguments) => {
      const certificate = certificateOf(options);
      const { startWebhook } = await import('./webhook.ts');
      await serve(startWebhook({ ...options, drain: options.drain * 1000, rotation: rotationOf(options), ...(certificate && { certificate }) }));
    });

  program
    .command('controller')
    .description('run the controller: reconcile statuses, provision data planes and configure them')
    .option('--port <port>', 'port that data planes connect to; 0 for any free port', parsePort, 8443)
    .option('--probe-port <port>', 'port for health checks and metrics; 0 for any free port', parsePort, 8080)
    .addOption(namespaceOption())
    .option('--service <name>', 'Service that data planes connect to', 'sallyport-controller')
    .option('--secret <name>', 'Secret that holds the certificate authority', 'sallyport-controller-authority')
    .option('--lease <name>', 'Lease for leader election', 'sallyport-controller')
    .addOption(identityOption())
    .addOption(new Option('--uid <uid>', "UID of the controller's own pod; owner of the objects that it shares with other replicas").env('POD_UID'))
    .option('--image <name>', "data plane image; default: the image of the controller's own pod")
    .option('--address-pool <range>', 'addresses to assign to Gateways in clusters without a load balancer, for example 192.0.2.0/28 or 2001:db8::10-2001:db8::1f; may be repeated', collectRange)
    .addOption(logLevelOption())
    .action(async (options: ControllerCommandOptions) => {
      const { startController } = await import('./controller.ts');
      const running = await startController(options);
      await untilStopped();
      await running.stop();
    });

  program
    .command('proxy')
    .description('run the data plane of one Gateway; the controller creates its pods')
    .requiredOption('--controller <host:port>', 'address of the controller', parseHostAndPort)
    .requiredOption('--gateway <namespace/name>', 'the Gateway to serve', parseQualifiedName)
    .requiredOption('--token-file <file>', 'ServiceAccount token for the controller; read for each connection')
    .requiredOption('--ca-file <file>', 'CA certificates that verify the controller (PEM); read for each connection')
    .option('--bind <address>', 'address to listen on; :: for all IPv6 and IPv4 addresses', '::')
    .addOption(new Option('--forwarded <policy>', 'how incoming X-Forwarded-For and Forwarded headers are handled').choices(['append', 'replace']).default('append'))
    .option('--accept-proxy-protocol <networks>', 'load balancers whose connections begin with a PROXY header, for example 10.0.0.0/8,2001:db8::/32', parseText(parseNetworks))
    .option('--send-proxy-protocol <versions>', 'PROXY headers for backends of TCPRoutes and TLSRoutes: v1 or v2, or by listener port, for example 25=v1,5432=v2', parseText(parseProxyVersions))
    .option('--connections-per-client <number>', 'maximum number of connections per client address', parseCount, 2_048)
    .addOption(durationOption('--tcp-idle-timeout <duration>', 'time without bytes after which a connection of a TCPRoute or TLSRoute ends', 3_600_000))
    .addOption(durationOption('--udp-idle-timeout <duration>', 'time without datagrams after which a flow of a UDPRoute ends', 60_000))
    .option('--udp-flows <number>', 'maximum number of flows of UDPRoutes', parseCount, 8_192)
    .option('--probe-port <port>', 'port for health checks and metrics; 0 for any free port', parsePort, 19_090)
    .addOption(identityOption())
    .option('--no-access-log', 'do not log requests')
    .option('--drain <seconds>', 'time to keep serving after the signal to stop', parseSeconds, 5)
    .option('--grace <seconds>', 'time that requests in flight get after that', parseSeconds, 20)
    .addOption(logLevelOption())
    .action(async (options: ProxyCommandOptions) => {
      const { startProxy } = await import('./proxy.ts');
      await serve(startProxy({ ...options, drain: options.drain * 1000, grace: options.grace * 1000 }));
    });

  program
    .command('watchdog')
    .description("set failurePolicy to Ignore when no webhook pod is ready; must not run in the webhook's own pods")
    .addOption(namespaceOption())
    .option('--service <name>', 'Service of the webhook', 'sallyport-webhook')
    .option('--configuration <name>', 'ValidatingWebhookConfiguration to set to Ignore', 'sallyport-webhook')
    .option('--patience <seconds>', 'time without a ready pod before that', parseSeconds, 5)
    .option('--probe-port <port>', 'port for health checks and metrics; 0 for any free port', parsePort, 8080)
    .addOption(logLevelOption())
    .action(async (options: Omit<WatchdogCommandOptions, 'patience'> & { readonly patience: number }) => {
      const { startWatchdog } = await import('./watchdog.ts');
      await serve(startWatchdog({ ...options, patience: options.patience * 1000 }));
    });

  program
    .command('doctor')
    .description('diagnose an installation: CRDs, certificates, failurePolicy, connectivity, permissions; exit code 1 if a check fails')
    .addOption(namespaceOption())
    .option('--service <name>', 'Service of the webhook', 'sallyport-webhook')
    .option('--configuration <name>', 'ValidatingWebhookConfiguration', 'sallyport-webhook')
    .option('--secret <name>', 'Secret that holds the certificate authority', 'sallyport-authority')
    .option('--lease <name>', "Lease of the webhook's replicas", 'sallyport-webhook')
    .option('--webhook-account <name>', 'ServiceAccount of the webhook', 'sallyport-webhook')
    .option('--watchdog-account <name>', 'ServiceAccount of the watchdog', 'sallyport-watchdog')
    .option('--kubeconfig <file>', 'kubeconfig file; default: the one that kubectl uses')
    .addOption(new Option('-o, --output <format>', 'output format').choices(['text', 'json']).default('text'))
    .action(async ({ kubeconfig, output, ...installation }: DoctorArguments) => {
      const { doctor } = await import('./doctor/doctor.ts');
      process.exitCode = await doctor({ installation, output, credentials: kubeconfig === undefined ? 'default' : { kubeconfig } });
    });

  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    process.stderr.write(`sallyport: ${describeError(error)}\n`);
    process.exitCode ??= 1;
  }
}

/** The exit code of `check`, `audit`, `impact` and `preflight` if there is no result. */
const notDone = 2;

async function runCheck(paths: readonly string[], { explain, bundle, channel, closed, stateless, baseline, writeBaseline, cluster, context, ...options }: CheckArguments): Promise<number> {
  if (explain !== undefined) {
    const { explainRule } = await import('./explain-rule.ts');
    process.stdout.write(explainRule(explain));
    return 0;
  }
  const from = clusterOf(cluster, context);
  if (paths.length === 0 && from === undefined) throw new UsageError('missing argument: name files or folders, or - for standard input');
  if (from !== undefined && paths.includes('-')) throw new UsageError('--cluster conflicts with standard input: write the objects to a file');
  const { check } = await import('./check.ts');
  return check(paths, { ...options, bundle: { minor: bundle, channel }, scope: scopeOf({ closed, stateless }), baseline: baselineOf(baseline, writeBaseline), cluster: from });
}

function scopeOf({ closed, stateless }: Pick<CheckArguments, 'closed' | 'stateless'>): CheckOptions['scope'] {
  if (closed && stateless) throw new UsageError('--closed conflicts with --stateless: --closed reports references between objects, --stateless ignores them');
  if (stateless) return 'alone';
  return closed ? 'closed' : 'open';
}

function baselineOf(read: string | undefined, written: string | undefined): CheckOptions['baseline'] {
  if (read !== undefined) return { type: 'read', file: read };
  return written === undefined ? { type: 'none' } : { type: 'write', file: written };
}

/** Describes an error to an operator. It includes a stack only for internal errors. */
function describeError(error: unknown): string {
  const { code, address, port } = error as { readonly code?: string; readonly address?: string; readonly port?: number };
  if (code === 'EADDRINUSE') return `port ${port} on ${address} is already in use; stop the other process or choose another port (see --help)`;
  if (isUsageError(error)) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

interface CheckArguments extends Pick<CheckOptions, 'profile' | 'output'>, ClusterArguments {
  readonly bundle: Minor;
  readonly channel: Channel;
  readonly closed: boolean;
  readonly stateless: boolean;
  readonly baseline?: string;
  readonly writeBaseline?: string;
  readonly explain?: string;
}

interface ClusterArguments {
  readonly cluster?: string | true;
  readonly context?: string;
}

interface ExplainArguments extends Omit<ExplainOptions, 'cluster'>, ClusterArguments {}
interface AuditArguments extends Pick<AuditOptions, 'files' | 'output' | 'profile'>, ClusterArguments {
  readonly since?: string;
}
interface PreflightArguments extends Pick<PreflightOptions, 'files' | 'output'>, ClusterArguments {
  readonly to?: Release;
  readonly channel: Channel;
  readonly since?: string;
}
interface ImpactArguments extends Omit<ImpactOptions, 'cluster'>, ClusterArguments {}

interface RunArguments {
  readonly files: readonly string[];
  readonly demo: boolean;
  readonly listen?: string;
  readonly accessLog: boolean;
  readonly profile: Profile;
  readonly webhookPort: number;
  readonly probePort: number;
  readonly grace: number;
}

interface WebhookArguments extends Omit<WebhookCommandOptions, 'certificate' | 'rotation'> {
  readonly certificateFile?: string;
  readonly privateKeyFile?: string;
  readonly authorityLifetime: number;
  readonly certificateLifetime: number;
  readonly propagationTime: number;
  readonly clockSkew: number;
}

interface DoctorArguments extends Installation {
  readonly kubeconfig?: string;
  readonly output: 'text' | 'json';
}

function certificateOf({ certificateFile, privateKeyFile }: WebhookArguments): WebhookCommandOptions['certificate'] {
  if (certificateFile !== undefined && privateKeyFile !== undefined) return { certificateFile, privateKeyFile };
  if (certificateFile === undefined && privateKeyFile === undefined) return undefined;
  throw new UsageError('a certificate and its key belong together: give both --certificate-file and --private-key-file, or none');
}

function rotationOf({ authorityLifetime, certificateLifetime, propagationTime, clockSkew }: WebhookArguments): WebhookCommandOptions['rotation'] {
  return { authorityLifetime, leafLifetime: certificateLifetime, propagation: propagationTime, clockSkew };
}

/**
 * Runs a starting process until SIGTERM or SIGINT. A signal before the start has finished ends the process: PID 1 of a container
 * would ignore it otherwise.
 */
async function serve(starting: Promise<{ stop(): Promise<void> }>): Promise<void> {
  const stopped = untilStopped();
  const running = await Promise.race([starting, stopped]);
  if (running === undefined) process.exit(0);
  await stopped;
  await running.stop();
}

/** Resolves at SIGTERM or SIGINT. A second signal ends the process at once. */
async function untilStopped(): Promise<void> {
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => {
        resolve();
        process.once(signal, () => process.exit(1));
      });
    }
  });
}
