import { Command, Option } from 'commander';
import type { Profile } from '../../core/rules/engine/rule.ts';
import { channels, type Channel, type Minor } from '../../core/schema/availability.ts';
import type { AuditOptions } from '../audit.ts';
import type { CheckOptions } from '../check.ts';
import type { ExplainOptions } from '../explain.ts';
import type { ImpactOptions } from '../impact.ts';
import type { PreflightOptions } from '../preflight.ts';
import { formatNames } from '../report/formats/format-names.ts';
import {
  type ClusterArguments,
  clusterOf,
  clusterOption,
  contextOption,
  controllerNamespaceOption,
  exitWithoutResult,
  gatewayClassOption,
  kubeconfigOption,
  notDone,
  objectNamespaceOption,
  optionalProfileOption,
  parseHostAndPort,
  parseMinor,
  parseRelease,
  repeatableOption,
  routingSettingsOption,
  settingsOption,
  type Release,
  webhookNamespaceOption,
} from './options.ts';
import { UsageError } from '../usage-error.ts';

/** Adds the commands that read objects and report on them: `check`, `explain`, `impact`, `audit`, `preflight`. */
export function addObjectCommands(program: Command): void {
  program
    .command('check')
    .description(
      'validate objects in files like the webhook does; exit code 1 if an object would be denied, 2 if the check failed',
    )
    .argument('[path...]', 'files or folders of YAML or JSON; - for standard input')
    .addOption(optionalProfileOption())
    .option('--bundle <version>', 'CRD release to validate against', parseMinor, '1.7')
    .addOption(new Option('--channel <name>', 'CRD release channel').choices([...channels]).default('standard'))
    .addOption(new Option('-o, --output <format>', 'output format').choices([...formatNames]).default('text'))
    .addOption(clusterOption().conflicts(['bundle', 'channel', 'closed', 'stateless']))
    .addOption(kubeconfigOption())
    .addOption(contextOption())
    .addOption(objectNamespaceOption())
    .addOption(settingsOption().conflicts('stateless'))
    .addOption(webhookNamespaceOption())
    .option('--closed', 'report references to objects that are not in the files', false)
    .option(
      '--stateless',
      'validate each object by itself, without references to other objects; uses bounded memory',
      false,
    )
    .option('--baseline <file>', 'ignore the findings that are listed in this file')
    .addOption(
      new Option('--write-baseline <file>', 'write the findings to this file, for use with --baseline').conflicts(
        'baseline',
      ),
    )
    .addOption(new Option('--explain <rule>', 'print the documentation of a rule and exit'))
    .exitOverride(exitWithoutResult)
    .action(async (paths: string[], options: CheckArguments) => {
      // Until the result is known: an internal error must not look like a finding.
      process.exitCode = notDone;
      process.exitCode = await runCheck(paths, options);
    });

  program
    .command('explain')
    .description(
      'show how a request or connection is routed: listener, rule, backends, and why other matches do not apply',
    )
    .argument(
      '<url>',
      'for example http://store.example.com/cart, tls://db.example.com:5432, or tcp://front:5432 and udp://front:53 for the Gateway front',
    )
    .addOption(repeatableOption('-f, --files <path>', 'YAML or JSON file, or folder of files'))
    .addOption(clusterOption())
    .addOption(kubeconfigOption())
    .addOption(contextOption())
    .addOption(objectNamespaceOption())
    .addOption(routingSettingsOption())
    .option('-X, --method <method>', 'request method', 'GET')
    .addOption(repeatableOption('-H, --header <line>', 'request header'))
    .addOption(controllerNamespaceOption())
    .addOption(gatewayClassOption())
    .option(
      '--trace',
      'send the request or connection through the data planes, and compare their decision with the prediction',
      false,
    )
    .addOption(
      new Option(
        '--address <host:port>',
        'send the request or connection to this address, instead of that of the Gateway',
      )
        .argParser(parseHostAndPort)
        .implies({ trace: true }),
    )
    .option('--insecure', 'accept any certificate of a data plane, for --trace', false)
    .addOption(new Option('-o, --output <format>', 'output format').choices(['text', 'json']).default('text'))
    .exitOverride(exitWithoutResult)
    .action(
      async (url: string, { cluster, kubeconfig, context, trace, address, insecure, ...options }: ExplainArguments) => {
        process.exitCode = notDone;
        const { explain } = await import('../explain.ts');
        process.exitCode = await explain(url, {
          ...options,
          cluster: clusterOf({ cluster, kubeconfig, context }),
          trace: trace ? { address: placeOf(address), insecure } : undefined,
        });
      },
    );

  program
    .command('impact')
    .description(
      'show the effect of a change before it happens: statuses that change, requests that are routed differently',
    )
    .addOption(
      repeatableOption('-f, --files <path>', 'objects before the change: YAML or JSON file, or folder of files'),
    )
    .addOption(clusterOption())
    .addOption(kubeconfigOption())
    .addOption(contextOption())
    .addOption(objectNamespaceOption())
    .addOption(repeatableOption('--change <file>', 'file or folder of objects to apply'))
    .addOption(
      repeatableOption(
        '--delete <object>',
        'object to delete, as KIND/NAMESPACE/NAME or KIND/NAME (cluster-scoped, or with --namespace)',
      ),
    )
    .addOption(routingSettingsOption())
    .addOption(controllerNamespaceOption())
    .addOption(gatewayClassOption())
    .addOption(
      new Option('--fail-on <effect>', 'exit with code 1 if something breaks, if anything changes, or never')
        .choices(['broken', 'changed', 'never'])
        .default('broken'),
    )
    .addOption(
      new Option('-o, --output <format>', 'output format').choices(['text', 'json', 'markdown']).default('text'),
    )
    .exitOverride(exitWithoutResult)
    .action(async ({ cluster, kubeconfig, context, ...options }: ImpactArguments) => {
      process.exitCode = notDone;
      const { impact } = await import('../impact.ts');
      process.exitCode = await impact({ ...options, cluster: clusterOf({ cluster, kubeconfig, context }) });
    });

  program
    .command('audit')
    .description(
      'validate all stored objects of a cluster by the current rules; exit code 1 if an object would be denied, 2 if the audit failed',
    )
    .addOption(clusterOption())
    .addOption(kubeconfigOption())
    .addOption(contextOption())
    .addOption(objectNamespaceOption())
    .addOption(repeatableOption('-f, --files <path>', 'YAML or JSON file, or folder of files'))
    .addOption(optionalProfileOption())
    .addOption(settingsOption())
    .addOption(webhookNamespaceOption())
    .option(
      '--since <report>',
      'report only findings that an earlier report (-o json) does not have, and list those that are gone',
    )
    .addOption(new Option('-o, --output <format>', 'output format').choices([...formatNames]).default('text'))
    .exitOverride(exitWithoutResult)
    .action(async ({ cluster, kubeconfig, context, since, profile, settings, ...options }: AuditArguments) => {
      process.exitCode = notDone;
      const { audit } = await import('../audit.ts');
      process.exitCode = await audit({
        ...options,
        since,
        profile,
        settings,
        cluster: clusterOf({ cluster, kubeconfig, context }),
      });
    });

  program
    .command('preflight')
    .description(
      'show the effect of changing the Gateway API CRDs before it happens: what blocks the change, which objects are rejected, which fields are lost',
    )
    .option('--to <version>', 'release to change to, for example v1.7.0', parseRelease)
    .addOption(
      new Option('--channel <name>', 'release channel to change to').choices([...channels]).default('standard'),
    )
    .addOption(repeatableOption('-f, --files <path>', 'YAML or JSON file, or folder of files'))
    .addOption(clusterOption())
    .addOption(kubeconfigOption())
    .addOption(contextOption())
    .addOption(objectNamespaceOption())
    .addOption(routingSettingsOption())
    .addOption(controllerNamespaceOption())
    .addOption(gatewayClassOption())
    .option(
      '--since <report>',
      'compare the routes with an earlier report (-o json); exit code 1 if a route has lost Accepted',
    )
    .addOption(
      new Option('-o, --output <format>', 'output format').choices(['text', 'json', 'markdown']).default('text'),
    )
    .exitOverride(exitWithoutResult)
    .action(async ({ cluster, kubeconfig, context, to, channel, ...options }: PreflightArguments) => {
      process.exitCode = notDone;
      if (to === undefined && options.since === undefined)
        throw new UsageError(
          'No target: use --to, for example --to v1.7.0, or --since to compare with an earlier report.',
        );
      const { preflight } = await import('../preflight.ts');
      const target = to && { bundle: { minor: to.minor, channel }, version: to.version };
      process.exitCode = await preflight({
        files: options.files,
        namespace: options.namespace,
        gatewayClass: options.gatewayClass,
        settings: options.settings,
        controllerNamespace: options.controllerNamespace,
        since: options.since,
        output: options.output,
        target,
        cluster: clusterOf({ cluster, kubeconfig, context }),
      });
    });
}

async function runCheck(
  paths: readonly string[],
  {
    explain,
    bundle,
    channel,
    closed,
    stateless,
    baseline,
    writeBaseline,
    cluster,
    kubeconfig,
    context,
    profile,
    ...options
  }: CheckArguments,
): Promise<number> {
  if (explain !== undefined) {
    const { explainRule } = await import('../explain-rule.ts');
    process.stdout.write(explainRule(explain));
    return 0;
  }
  const from = clusterOf({ cluster, kubeconfig, context });
  if (paths.length === 0 && from === undefined)
    throw new UsageError('missing argument: name files or folders, or - for standard input');
  if (from !== undefined && paths.includes('-'))
    throw new UsageError('--cluster conflicts with standard input: write the objects to a file');
  const { check } = await import('../check.ts');
  return check(paths, {
    ...options,
    profile,
    bundle: { minor: bundle, channel },
    scope: scopeOf({ closed, stateless }),
    baseline: baselineOf(baseline, writeBaseline),
    cluster: from,
  });
}

/** Splits `host:port`. */
function placeOf(address: string | undefined): { readonly host: string; readonly port: number } | undefined {
  if (address === undefined) return undefined;
  const colon = address.lastIndexOf(':');
  return { host: address.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(address.slice(colon + 1)) };
}

function scopeOf({ closed, stateless }: Pick<CheckArguments, 'closed' | 'stateless'>): CheckOptions['scope'] {
  if (closed && stateless)
    throw new UsageError(
      '--closed conflicts with --stateless: --closed reports references between objects, --stateless ignores them',
    );
  if (stateless) return 'alone';
  return closed ? 'closed' : 'open';
}

function baselineOf(read: string | undefined, written: string | undefined): CheckOptions['baseline'] {
  if (read !== undefined) return { type: 'read', file: read };
  return written === undefined ? { type: 'none' } : { type: 'write', file: written };
}

interface CheckArguments extends Pick<CheckOptions, 'output' | 'namespace' | 'webhookNamespace'>, ClusterArguments {
  readonly profile?: Profile;
  readonly bundle: Minor;
  readonly channel: Channel;
  readonly closed: boolean;
  readonly stateless: boolean;
  readonly baseline?: string;
  readonly writeBaseline?: string;
  readonly explain?: string;
  readonly settings?: string;
}

interface ExplainArguments extends Omit<ExplainOptions, 'cluster' | 'trace'>, ClusterArguments {
  readonly trace: boolean;
  readonly address?: string;
  readonly insecure: boolean;
}

interface AuditArguments
  extends Pick<AuditOptions, 'files' | 'output' | 'namespace' | 'webhookNamespace'>, ClusterArguments {
  readonly profile?: Profile;
  readonly settings?: string;
  readonly since?: string;
}
interface PreflightArguments
  extends
    Pick<PreflightOptions, 'files' | 'output' | 'namespace' | 'gatewayClass' | 'settings' | 'controllerNamespace'>,
    ClusterArguments {
  readonly to?: Release;
  readonly channel: Channel;
  readonly since?: string;
}
interface ImpactArguments extends Omit<ImpactOptions, 'cluster'>, ClusterArguments {}
