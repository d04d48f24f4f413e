import { minors, parseBundleVersion, type Bundle, type Minor, type SchemaKind } from '../schema/index.ts';
import { display, printable, quote, someOf } from '../text/display.ts';
import {
  crdOwners,
  kubernetesMinimums,
  providerPolicies,
  safeUpgrades,
  safeUpgradesSource,
  type CrdOwner,
} from './environment-table.ts';
import type { ClusterFacts, Definition } from './facts.ts';
import { counted, shellWord, type PreflightFinding } from './finding.ts';
import { listedVersions, nameOfTarget, resourceOf, type Target } from './target.ts';

/** Reports that checks of the CRDs themselves, of objects, and of the cluster are missing if the credentials do not suffice for them. */
export function judgeObservation({
  definitionsForbidden,
  policiesForbidden,
  versionForbidden,
  unobserved = [],
}: ClusterFacts): readonly PreflightFinding[] {
  const extents = [...Map.groupBy(unobserved, ({ namespace }) => namespace)];
  return [
    ...(definitionsForbidden === undefined ? [] : [unobservedDefinitions(definitionsForbidden)]),
    ...extents.map(([namespace, kinds]) =>
      unobservedObjects(
        namespace,
        kinds.map(({ kind }) => kind),
      ),
    ),
    ...(policiesForbidden === undefined ? [] : [unobservedPolicies(policiesForbidden)]),
    ...(versionForbidden === undefined ? [] : [unobservedVersion(versionForbidden)]),
  ];
}

/** Whether a finding is about something that is not observed, so that nobody knows whether the cluster is ready for the change. */
export function isUnobserved({ check }: PreflightFinding): boolean {
  return check === 'unobserved-crds' || check === 'unobserved-objects' || check === 'unobserved-cluster';
}

/** The beginning of the API server's messages repeats what is forbidden: `services is forbidden: User "dev" cannot list …`. */
const repetition = /^\S+ is forbidden: /;

function unobservedDefinitions(message: string): PreflightFinding {
  return {
    check: 'unobserved-crds',
    severity: 'warning',
    subject: 'CustomResourceDefinitions',
    message: `The CRDs are not observed: ${reasonIn(message)}. Their stored versions, their managers and the channel that policies protect are not checked: run preflight with permission to list CRDs before you upgrade.`,
    commands: ['kubectl auth can-i list customresourcedefinitions.apiextensions.k8s.io'],
  };
}

function unobservedObjects(namespace: string | undefined, kinds: readonly SchemaKind[]): PreflightFinding {
  const extent = namespace === undefined ? 'not observed' : `observed only in namespace ${quote(namespace)}`;
  return {
    check: 'unobserved-objects',
    severity: 'warning',
    subject: kinds.join(', '),
    message: `Objects of ${kinds.length === 1 ? 'this kind' : 'these kinds'} are ${extent}. ${namespace === undefined ? 'They' : 'Others'} are not checked, and changes in status and traffic that depend on them are unknown: run preflight with permission to list them in all namespaces before you upgrade.`,
    commands: kinds.map((kind) => `kubectl auth can-i list ${resourceOf(kind)} --all-namespaces`),
  };
}

function unobservedPolicies(message: string): PreflightFinding {
  return {
    check: 'unobserved-cluster',
    severity: 'warning',
    subject: 'ValidatingAdmissionPolicies',
    message: `The policies are not observed: ${reasonIn(message)}. A policy may deny the change of the CRDs: run preflight with permission to list ValidatingAdmissionPolicies before you upgrade.`,
    commands: ['kubectl auth can-i list validatingadmissionpolicies.admissionregistration.k8s.io'],
  };
}

function unobservedVersion(message: string): PreflightFinding {
  return {
    check: 'unobserved-cluster',
    severity: 'warning',
    subject: 'Kubernetes',
    message: `The version of Kubernetes is not observed: ${reasonIn(message)}. The API server may reject the CRDs: run preflight with permission to read the version before you upgrade.`,
    commands: ['kubectl auth can-i get /version'],
  };
}

const longestReason = 400;

function reasonIn(message: string): string {
  return printable(message.replace(repetition, ''), longestReason);
}

/** Checks whether the Kubernetes version supports the target's CRDs. */
export function judgeKubernetes({ kubernetes }: ClusterFacts, target: Target): readonly PreflightFinding[] {
  const { minor, channel } = target.bundle;
  const row = kubernetesMinimums.findLast(
    (candidate) =>
      (candidate.channel === 'both' || candidate.channel === channel) &&
      minors.indexOf(minor) >= minors.indexOf(candidate.since),
  );
  const installed = /^v?1\.(\d{1,3})/.exec(kubernetes ?? '')?.[1];
  if (row === undefined || installed === undefined || Number(installed) >= row.minor) return [];
  return [
    {
      check: 'kubernetes-version',
      severity: 'blocker',
      subject: `Kubernetes ${display(kubernetes ?? '')}`,
      message: `${nameOfTarget(target)} requires Kubernetes 1.${row.minor} or newer: ${row.why}. The API server rejects the CRDs.`,
      commands: ['kubectl version'],
      source: row.source,
    },
  ];
}

/** Finds policies of the cluster that deny the change, and reports the policy that the target contains. */
export function judgePolicies(facts: ClusterFacts, target: Target): readonly PreflightFinding[] {
  const { policies } = facts;
  const ofProviders = providerPolicies
    .filter(({ name, denies }) => policies.has(name) && (denies === 'all' || target.bundle.channel === 'experimental'))
    .map(({ name, provider, source }): PreflightFinding => ({
      check: 'managed-crds',
      severity: 'blocker',
      subject: `ValidatingAdmissionPolicy ${name}`,
      message: `${capitalized(provider)} denies this change of the CRDs. Upgrade through the provider, or disable its management of the Gateway API.`,
      commands: [showPolicyCommand(name)],
      source,
    }));
  const annotation = policies.get(safeUpgrades);
  return annotation === undefined ? ofProviders : [...ofProviders, ...safeUpgradesFindings(annotation, facts, target)];
}

function showPolicyCommand(name: string): string {
  return `kubectl get validatingadmissionpolicy ${name} -o yaml`;
}

/** The command that removes the policy, so that older bundles and experimental CRDs are allowed. */
export const deletePolicyCommand = `kubectl delete validatingadmissionpolicybinding,validatingadmissionpolicy ${safeUpgrades}`;

/** Returns whether the policy denies a bundle because it is older than the bundle of the policy. */
export function guardsAgainst(policies: ClusterFacts['policies'], { minor }: Bundle): boolean {
  const annotation = policies.get(safeUpgrades);
  return annotation !== undefined && isBefore(minor, floorOf(annotation));
}

function floorOf(annotation: string): Minor | undefined {
  const guarded = parseBundleVersion(annotation);
  return guarded.ok ? guarded.minor : undefined;
}

function isBefore(minor: Minor, floor: Minor | undefined): boolean {
  return floor !== undefined && minors.indexOf(minor) < minors.indexOf(floor);
}

function safeUpgradesFindings(
  annotation: string,
  { definitions, definitionsForbidden }: ClusterFacts,
  target: Target,
): readonly PreflightFinding[] {
  const { minor, channel } = target.bundle;
  const standard =
    channel === 'experimental'
      ? definitions
          .filter((definition) => definition.channel === 'standard' && isGuarded(definition, target))
          .map(({ name }) => name)
      : [];
  const floor = floorOf(annotation);
  const isOlder = isBefore(minor, floor);
  const reasons = [
    ...(isOlder ? [`it denies bundles before v${floor}`] : []),
    ...(standard.length > 0 ? [`it denies experimental CRDs in place of standard ones (${someOf(standard)})`] : []),
  ];
  // The policy may protect standard CRDs that are not observed.
  if (reasons.length === 0 && definitionsForbidden !== undefined && channel === 'experimental') return [];
  if (reasons.length === 0) {
    // The target contains its own version of the policy.
    const message = `The policy allows this change. ${nameOfTarget(target)} brings its own version, which denies older bundles from then on.`;
    return [
      {
        check: 'safe-upgrades',
        severity: 'note',
        subject: `ValidatingAdmissionPolicy ${safeUpgrades}`,
        message,
        commands: [showPolicyCommand(safeUpgrades)],
        source: safeUpgradesSource,
      },
    ];
  }
  const after = minors.indexOf(minor) >= minors.indexOf('1.5') ? ' The target brings it back.' : '';
  return [
    {
      check: 'safe-upgrades',
      severity: 'blocker',
      subject: `ValidatingAdmissionPolicy ${safeUpgrades}`,
      message: `The policy denies this change: ${reasons.join(', and ')}. Delete it if you are sure.${after}`,
      commands: [deletePolicyCommand],
      source: safeUpgradesSource,
    },
  ];
}

/** The policy matches only one API group. Only CRDs that the target changes are affected. */
function isGuarded({ name, kind }: Definition, { bundle }: Target): boolean {
  return name.endsWith('.gateway.networking.k8s.io') && kind !== undefined && listedVersions(kind, bundle).length > 0;
}

/** Finds CRDs that a tool or provider manages, which may revert the change. */
export function judgeOwners({ definitions }: ClusterFacts): readonly PreflightFinding[] {
  const marked = definitions.flatMap((definition) =>
    crdOwners.flatMap((owner) => {
      const value = definition.labels[owner.mark] ?? definition.annotations[owner.mark];
      return value === undefined || (owner.value !== undefined && owner.value !== value) ? [] : [{ definition, owner }];
    }),
  );
  const owned = [...Map.groupBy(marked, ({ owner }) => owner)].map(([owner, some]) =>
    ownedBy(
      owner,
      some.map(({ definition }) => definition),
    ),
  );
  return [
    ...owned,
    ...judgeManagers(definitions.filter((definition) => !marked.some((mark) => mark.definition === definition))),
  ];
}

function ownedBy({ mark, owner, advice, source }: CrdOwner, definitions: readonly Definition[]): PreflightFinding {
  return {
    check: 'managed-crds',
    severity: 'warning',
    subject: capitalized(owner),
    message: `${capitalized(owner)} manages ${counted(definitions.length, 'CRD')} (${someOf(definitions.map(({ name }) => name))}), by the mark ${mark}, and may revert the change. ${advice}`,
    commands: definitions
      .slice(0, 1)
      .map(({ name }) => `kubectl get crd ${shellWord(name)} --show-managed-fields -o yaml`),
    source,
  };
}

/** The field managers of kubectl and of the API server itself. */
const ordinaryManagers = /^(?:kubectl\b|kubectl-|kube-apiserver$|before-first-apply$|sallyport)/;

/** Another field manager may write its version again, and kubectl reports a conflict. */
function judgeManagers(definitions: readonly Definition[]): readonly PreflightFinding[] {
  const written = definitions.flatMap(({ name, managers }) =>
    managers.filter((manager) => !ordinaryManagers.test(manager)).map((manager) => ({ name, manager })),
  );
  return [...Map.groupBy(written, ({ manager }) => manager)].map(([manager, some]): PreflightFinding => ({
    check: 'managed-crds',
    severity: 'warning',
    subject: display(manager),
    message: `The client "${display(manager)}" manages ${counted(some.length, 'CRD')} (${someOf(some.map(({ name }) => name))}). It may revert the change. "kubectl apply --server-side" reports a conflict with it unless you add --force-conflicts.`,
    commands: some.slice(0, 1).map(({ name }) => `kubectl get crd ${shellWord(name)} --show-managed-fields -o yaml`),
  }));
}

function capitalized(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}
