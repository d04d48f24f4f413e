import { Command, Option } from 'commander';
import { defaultRotationPolicy } from '../../certificates/rotation.ts';
import { parseNetworks, parseProxyVersions } from '../../core/text/proxy-protocol.ts';
import type { ControllerCommandOptions } from '../controller.ts';
import type { Installation } from '../doctor/facts.ts';
import type { ProxyCommandOptions } from '../proxy.ts';
import type { RunOptions } from '../run.ts';
import {
  collect,
  collectRange,
  contextOption,
  credentialsOf,
  kubeconfigOption,
  durationOption,
  exitWithoutResult,
  identityOption,
  logLevelOption,
  namespaceOption,
  notDone,
  parseAddress,
  parseCount,
  parseHostAndPort,
  parsePort,
  parseQualifiedName,
  parseSeconds,
  parseText,
  parseWorkers,
  profileOption,
  settingsOption,
} from './options.ts';
import { UsageError } from '../usage-error.ts';
import type { WatchdogCommandOptions } from '../watchdog.ts';
import type { WebhookCommandOptions } from '../webhook.ts';

/** Adds the commands that serve until they are stopped, and `doctor`, which examines them. */
export function addProcessCommands(program: Command): void {
  program
    .command('run')
    .description('validate and serve Gateway API objects from files on this machine; reloads on change')
    .requiredOption('-f, --files <path>', 'YAML or JSON file, or folder of files; may be repeated', collect)
    .option('--demo', 'start an echo server for each endpoint on a loopback address', false)
    .option(
      '--listen <address>',
      'IP address for Gateways without spec.addresses, with the ports of their listeners; default: a loopback address for each Gateway',
      parseAddress,
    )
    .option('--no-access-log', 'do not log requests')
    .addOption(profileOption())
    .addOption(settingsOption())
    .option('--webhook-port <port>', 'webhook port; 0 for any free port', parsePort, 9443)
    .option('--probe-port <port>', 'port for health checks and metrics; 0 for any free port', parsePort, 9090)
    .option('--grace <seconds>', 'time that requests in flight get on shutdown', parseSeconds, 10)
    .action(async (options: RunOptions) => {
      const { run } = await import('../run.ts');
      const running = await run({ ...options, grace: options.grace * 1000 });
      await untilStopped();
      await running.stop();
    });

  program
    .command('webhook')
    .description('run the admission webhook, in a pod or with the current kubeconfig')
    .option('--settings <file>', 'settings file; reloaded on change')
    .option(
      '--audit-reports',
      'validate all stored objects continuously on the leader, and write the findings to policy reports',
      false,
    )
    .option('--port <port>', 'webhook port; 0 for any free port', parsePort, 10_250)
    .option('--probe-port <port>', 'port for health checks and metrics; 0 for any free port', parsePort, 8080)
    .option('--drain <seconds>', 'time to keep serving after the signal to stop', parseSeconds, 20)
    .addOption(namespaceOption())
    .option('--service <name>', 'Service that the API server calls', 'sallyport-webhook')
    .option('--configuration <name>', 'ValidatingWebhookConfiguration to manage', 'sallyport-webhook')
    .option(
      '--impact-configuration <name>',
      'ValidatingWebhookConfiguration for warnings about changes of Services, Secrets, ConfigMaps, ClusterTrustBundles and Namespaces; default: no such warnings',
    )
    .option('--secret <name>', 'Secret that holds the certificate authority', 'sallyport-authority')
    .option('--lease <name>', 'Lease for the election of the replica that renews the authority', 'sallyport-webhook')
    .addOption(identityOption())
    .option(
      '--certificate-file <file>',
      'serving certificate, instead of one from the built-in authority; requires --private-key-file; reloaded on change',
    )
    .option('--private-key-file <file>', 'private key of the serving certificate')
    .addOption(
      durationOption(
        '--authority-lifetime <duration>',
        'lifetime of the built-in authority; it is renewed after two thirds',
        defaultRotationPolicy.authorityLifetime,
      ),
    )
    .addOption(
      durationOption(
        '--certificate-lifetime <duration>',
        'lifetime of certificates from the built-in authority; they are renewed after two thirds',
        defaultRotationPolicy.leafLifetime,
      ),
    )
    .addOption(
      durationOption(
        '--propagation-time <duration>',
        'time between publishing a new authority and using it',
        defaultRotationPolicy.propagation,
      ),
    )
    .addOption(
      durationOption(
        '--clock-skew <duration>',
        'largest clock difference in the cluster',
        defaultRotationPolicy.clockSkew,
      ),
    )
    .addOption(logLevelOption())
    .action(async (options: WebhookArguments) => {
      const certificate = certificateOf(options);
      const { startWebhook } = await import('../webhook.ts');
      await serve(
        startWebhook({
          ...options,
          drain: options.drain * 1000,
          rotation: rotationOf(options),
          ...(certificate && { certificate }),
        }),
      );
    });

  program
    .command('controller')
    .description('run the controller: reconcile statuses, provision data planes and configure them')
    .option(
      '--settings <file>',
      'settings file of the webhook, whose hostnamePolicies apply; need not exist; reloaded on change',
    )
    .option('--port <port>', 'port that data planes connect to; 0 for any free port', parsePort, 8443)
    .option('--probe-port <port>', 'port for health checks and metrics; 0 for any free port', parsePort, 8080)
    .addOption(namespaceOption())
    .option('--service <name>', 'Service that data planes connect to', 'sallyport-controller')
    .option('--secret <name>', 'Secret that holds the certificate authority', 'sallyport-controller-authority')
    .option('--lease <name>', 'Lease for leader election', 'sallyport-controller')
    .addOption(identityOption())
    .addOption(
      new Option(
        '--uid <uid>',
        "UID of the controller's own pod; owner of the objects that it shares with other replicas",
      ).env('POD_UID'),
    )
    .option('--image <name>', "data plane image; default: the image of the controller's own pod")
    .option(
      '--address-pool <range>',
      'addresses to assign to Gateways in clusters without a load balancer, for example 192.0.2.0/28 or 2001:db8::10-2001:db8::1f; may be repeated',
      collectRange,
    )
    .addOption(logLevelOption())
    .action(async (options: ControllerCommandOptions) => {
      const { startController } = await import('../controller.ts');
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
    .addOption(
      new Option('--forwarded <policy>', 'how incoming X-Forwarded-For and Forwarded headers are handled')
        .choices(['append', 'replace'])
        .default('append'),
    )
    .option(
      '--accept-proxy-protocol <networks>',
      'load balancers whose connections begin with a PROXY header, for example 10.0.0.0/8,2001:db8::/32',
      parseText(parseNetworks),
    )
    .option(
      '--send-proxy-protocol <versions>',
      'PROXY headers for backends of TCPRoutes and TLSRoutes: v1 or v2, or by listener port, for example 25=v1,5432=v2',
      parseText(parseProxyVersions),
    )
    .option('--connections-per-client <number>', 'maximum number of connections per client address', parseCount, 2_048)
    .addOption(
      durationOption(
        '--tcp-idle-timeout <duration>',
        'time without bytes after which a connection of a TCPRoute or TLSRoute ends',
        3_600_000,
      ),
    )
    .addOption(
      durationOption(
        '--udp-idle-timeout <duration>',
        'time without datagrams after which a flow of a UDPRoute ends',
        60_000,
      ),
    )
    .option('--udp-flows <number>', 'maximum number of flows of UDPRoutes', parseCount, 8_192)
    .option(
      '--workers <number>',
      'threads that serve traffic, 1 to 64; default: one for each CPU of the limit of the container, or 1 without a limit',
      parseWorkers,
    )
    .option(
      '--internal-backend-networks <networks>',
      'internal networks in which names of XBackends may be, for example 10.20.0.0/16',
      parseText(parseNetworks),
    )
    .option('--probe-port <port>', 'port for health checks and metrics; 0 for any free port', parsePort, 19_090)
    .addOption(identityOption())
    .option('--no-access-log', 'do not log requests')
    .option('--drain <seconds>', 'time to keep serving after the signal to stop', parseSeconds, 5)
    .option('--grace <seconds>', 'time that requests in flight get after the drain time', parseSeconds, 20)
    .addOption(logLevelOption())
    .action(async (options: ProxyCommandOptions) => {
      const { startProxy } = await import('../proxy.ts');
      await serve(startProxy({ ...options, drain: options.drain * 1000, grace: options.grace * 1000 }));
    });

  program
    .command('watchdog')
    .description("set failurePolicy to Ignore when no webhook pod is ready; must not run in the webhook's own pods")
    .addOption(namespaceOption())
    .option('--service <name>', 'Service of the webhook', 'sallyport-webhook')
    .option('--configuration <name>', 'ValidatingWebhookConfiguration to set to Ignore', 'sallyport-webhook')
    .option('--patience <seconds>', 'time without a ready pod before failurePolicy is set to Ignore', parseSeconds, 5)
    .option('--probe-port <port>', 'port for health checks and metrics; 0 for any free port', parsePort, 8080)
    .addOption(logLevelOption())
    .action(async (options: Omit<WatchdogCommandOptions, 'patience'> & { readonly patience: number }) => {
      const { startWatchdog } = await import('../watchdog.ts');
      await serve(startWatchdog({ ...options, patience: options.patience * 1000 }));
    });

  program
    .command('doctor')
    .description(
      'diagnose an installation: CRDs, webhook, controller, data planes, certificates, permissions; exit code 1 if a check fails',
    )
    .addOption(namespaceOption('-n, --namespace <name>'))
    .option('--service <name>', 'Service of the webhook', 'sallyport-webhook')
    .option('--configuration <name>', 'ValidatingWebhookConfiguration', 'sallyport-webhook')
    .option(
      '--impact-configuration <name>',
      'ValidatingWebhookConfiguration for warnings about Services, Secrets, ConfigMaps, ClusterTrustBundles and Namespaces; need not exist',
      'sallyport-impact',
    )
    .option('--secret <name>', 'Secret that holds the certificate authority', 'sallyport-authority')
    .option('--lease <name>', "Lease of the webhook's replicas", 'sallyport-webhook')
    .option('--webhook-account <name>', 'ServiceAccount of the webhook', 'sallyport-webhook')
    .option('--watchdog-account <name>', 'ServiceAccount of the watchdog', 'sallyport-watchdog')
    .option('--controller-account <name>', 'ServiceAccount of the controller', 'sallyport-controller')
    .option('--controller-lease <name>', "Lease of the controller's replicas", 'sallyport-controller')
    .option(
      '--controller-secret <name>',
      'Secret that holds the certificate authority of the controller',
      'sallyport-controller-authority',
    )
    .addOption(kubeconfigOption())
    .addOption(contextOption())
    .addOption(new Option('-o, --output <format>', 'output format').choices(['text', 'json']).default('text'))
    .exitOverride(exitWithoutResult)
    .action(async ({ kubeconfig, context, output, ...installation }: DoctorArguments) => {
      process.exitCode = notDone;
      const { doctor } = await import('../doctor/doctor.ts');
      process.exitCode = await doctor({
        installation,
        output,
        credentials: credentialsOf(kubeconfig, context),
      });
    });
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
  readonly context?: string;
  readonly output: 'text' | 'json';
}

function certificateOf({ certificateFile, privateKeyFile }: WebhookArguments): WebhookCommandOptions['certificate'] {
  if (certificateFile !== undefined && privateKeyFile !== undefined) return { certificateFile, privateKeyFile };
  if (certificateFile === undefined && privateKeyFile === undefined) return undefined;
  throw new UsageError('--certificate-file and --private-key-file require each other: use both or none');
}

function rotationOf({
  authorityLifetime,
  certificateLifetime,
  propagationTime,
  clockSkew,
}: WebhookArguments): WebhookCommandOptions['rotation'] {
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
