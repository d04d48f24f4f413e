import { beforeAll, describe, expect, test } from '@jest/globals';
import {
  neededByController,
  neededForAddressPool,
  neededForDataPlanes,
} from '../../src/cli/doctor/controller-permissions.ts';
import type { Permission } from '../../src/cli/doctor/facts.ts';
import { neededForImpact, neededPermissions } from '../../src/cli/doctor/permissions.ts';
import { hasKubectl, renderKustomize, type DeployedObject } from './render.ts';

const installation = {
  namespace: 'sallyport-system',
  service: 'sallyport-webhook',
  configuration: 'sallyport-webhook',
  impactConfiguration: 'sallyport-impact',
  secret: 'sallyport-authority',
  lease: 'sallyport-webhook',
  webhookAccount: 'sallyport-webhook',
  watchdogAccount: 'sallyport-watchdog',
  controllerAccount: 'sallyport-controller',
  controllerLease: 'sallyport-controller',
  controllerSecret: 'sallyport-controller-authority',
};

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

interface Binding extends DeployedObject {
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects: readonly { readonly name: string }[];
}

function isBinding(object: DeployedObject): object is Binding {
  return object.kind.endsWith('RoleBinding');
}

let deployed: readonly DeployedObject[];
let deployedForImpact: readonly DeployedObject[];
let deployedController: readonly DeployedObject[];
let deployedWithPool: readonly DeployedObject[];
const whereRendered = (await hasKubectl()) ? describe : describe.skip;

beforeAll(async () => {
  if (whereRendered === describe) {
    deployed = [...(await renderKustomize('base')).values()];
    deployedController = [...(await renderKustomize('overlays/controller')).values()];
    deployedWithPool = [...(await renderKustomize('overlays/controller', ['components/address-pool'])).values()];
    deployedForImpact = [...(await renderKustomize('base', ['components/impact'])).values()];
  }
});

/** One line for each account, verb and resource. */
function granted(binding: Binding, objects = deployed): readonly string[] {
  const {
    metadata: { namespace },
    roleRef,
    subjects,
  } = binding;
  const role = objects.find(
    ({ kind, metadata }) => kind === roleRef.kind && metadata.name === roleRef.name && metadata.namespace === namespace,
  );
  const rules = (role?.['rules'] ?? []) as readonly Rule[];
  return rules.flatMap(({ apiGroups, resources, resourceNames = [undefined], verbs }) =>
    subjects.flatMap(({ name: account }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) =>
          resourceNames.flatMap((name) =>
            verbs.map((verb) => line({ account, verb, group, resource, namespace, name })),
          ),
        ),
      ),
    ),
  );
}

interface Line {
  readonly account: string;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
}

function line({ account, verb, group, resource, namespace = '', name = '' }: Line): string {
  return `${account}: ${verb} ${group}/${resource} ${namespace}/${name}`;
}

function linesOf(permissions: readonly Permission[]): readonly string[] {
  return permissions.flatMap(({ verbs, resource, subresource, namespace, name, ...rest }) =>
    verbs.map((verb) =>
      line({
        ...rest,
        verb,
        resource: subresource === undefined ? resource : `${resource}/${subresource}`,
        namespace,
        name,
      }),
    ),
  );
}

whereRendered('the doctor', () => {
  test('asks for exactly what the roles of webhook and watchdog grant', () => {
    const needed = neededPermissions(installation).flatMap(({ verbs, namespace, name, ...rest }) =>
      verbs.map((verb) => line({ ...rest, verb, namespace, name })),
    );
    const bindings = deployed.filter(isBinding);
    expect(new Set(bindings.flatMap(({ subjects }) => subjects.map(({ name }) => name)))).toEqual(
      new Set(['sallyport-webhook', 'sallyport-watchdog']),
    );
    expect(needed.toSorted()).toEqual(bindings.flatMap((binding) => granted(binding)).toSorted());
  });

  test('asks for exactly what the roles of the controller grant', () => {
    const needed = linesOf([...neededByController(installation), ...neededForDataPlanes(installation)]);
    const bindings = deployedController.filter(isBinding);
    const all = bindings.flatMap((binding) => granted(binding, deployedController));
    expect(needed.toSorted()).toEqual(all.toSorted());
  });

  test('asks for exactly what the component for a pool of addresses grants in addition', () => {
    const known = new Set(
      deployedController.filter(isBinding).flatMap((binding) => granted(binding, deployedController)),
    );
    const all = deployedWithPool.filter(isBinding).flatMap((binding) => granted(binding, deployedWithPool));
    expect(all.filter((one) => !known.has(one))).toEqual(linesOf(neededForAddressPool(installation)));
  });

  test('asks for exactly what the component for warnings grants in addition', () => {
    const needed = neededForImpact(installation).flatMap(({ verbs, namespace, name, ...rest }) =>
      verbs.map((verb) => line({ ...rest, verb, namespace, name })),
    );
    const known = new Set(deployed.filter(isBinding).flatMap((binding) => granted(binding)));
    const all = deployedForImpact.filter(isBinding).flatMap((binding) => granted(binding, deployedForImpact));
    expect(all.filter((one) => !known.has(one)).toSorted()).toEqual(needed.toSorted());
  });
});
