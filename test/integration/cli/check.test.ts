import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { buildPackage, type BuiltPackage } from '../../support/built-package.ts';
import { gatewayObjects } from '../../support/standalone-objects.ts';

let folder: string;
let built: BuiltPackage;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sallyport-check-'));
  built = buildPackage();
}, 120_000);

afterAll(() => {
  built.remove();
  rmSync(folder, { recursive: true, force: true });
});

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `sallyport check` in the folder of this test. */
function check(args: readonly string[], input = ''): Outcome {
  const { status, stdout, stderr } = spawnSync(process.execPath, [built.program, 'check', ...args], {
    cwd: folder,
    input,
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '', NO_COLOR: '1' },
  });
  return { code: status, stdout, stderr };
}

function write(name: string, text: string): string {
  mkdirSync(join(folder, name, '..'), { recursive: true });
  writeFileSync(join(folder, name), text);
  return name;
}

function route(name: string, extra = '', annotations = ''): string {
  return `apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: ${name}
  namespace: shop
${annotations}spec:
  parentRefs:
  - name: web
  rules:
  - matches: [{ path: { value: / } }]
${extra}    filters: [{ type: RequestRedirect, requestRedirect: { scheme: https } }]
`;
}

const mistake = '    timeouts: { request: 1s, backendRequest: 2s }\n';
const parent = `apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: web, namespace: shop }
spec: { gatewayClassName: other, listeners: [{ name: http, port: 80, protocol: HTTP }] }
---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: other }
spec: { controllerName: example.net/controller }
`;

describe('sallyport check', () => {
  test('ends with 0 where nothing is wrong, and says how much there was', () => {
    write('good/gateway.yaml', parent);
    write('good/nested/route.yml', route('cart'));
    write('good/notes.txt', 'not YAML: [');
    expect(check(['good'])).toEqual({ code: 0, stdout: '3 objects: 0 errors, 0 warnings\n', stderr: '' });
  });

  test('ends with 1 where something would be denied, and shows the place', () => {
    const file = write('bad.yaml', `${parent}---\n${route('cart', mistake)}`);
    const { code, stdout, stderr } = check([file]);
    expect(stdout).toMatch(
      /^bad\.yaml:21:30: error \[backend-request-timeout\] spec\.rules\[0\]\.timeouts\.backendRequest: .*\n {2}21 \| {5}timeouts: .*\n {5}\| {30}\^\n3 objects: 1 error, 0 warnings\n$/,
    );
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
  });

  test('ends with 1 where a file cannot be read, and judges the others', () => {
    const { code, stdout } = check(['missing.yaml', '-'], `a: [\n---\n${parent}---\n${route('cart')}`);
    expect(code).toBe(1);
    expect(stdout).toContain('missing.yaml:1:1: error [unreadable-file] file or folder not found\n');
    expect(stdout).toContain('stdin:2:1: error [unreadable-file] invalid YAML');
    expect(stdout).toContain('3 objects: 2 errors, 0 warnings\n');
  });

  test.each([
    [[], 'sallyport: missing argument: name files or folders, or - for standard input\n'],
    [['--colour', '-'], "error: unknown option '--colour'"],
    [['-o', 'xml', '-'], "argument 'xml' is invalid. Allowed choices are text, json, sarif, junit, github."],
    [['--bundle', 'v0.1', '-'], "argument 'v0.1' is invalid."],
    [['--explain', 'path-sintax'], 'sallyport: unknown rule path-sintax; did you mean path-syntax?\n'],
    [['--baseline', 'none.json', '-'], 'sallyport: cannot use the baseline none.json: file or folder not found\n'],
    [
      ['--closed', '--stateless', '-'],
      'sallyport: --closed conflicts with --stateless: --closed reports references between objects, --stateless ignores them\n',
    ],
    [['--baseline', 'a.json', '--write-baseline', 'b.json', '-'], 'cannot be used with option'],
  ])('ends with 2 where it cannot do its work: %j', (args, message) => {
    const { code, stdout, stderr } = check(args);
    expect(stderr).toContain(message);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });

  test('leaves alone what other tools keep beside manifests', () => {
    write(
      'mixed/kustomization.yaml',
      'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [route.yaml]\n',
    );
    write('mixed/patch.yaml', '- op: remove\n  path: /spec/hostnames\n');
    write('mixed/package.json', '{"name": "shop"}');
    write('mixed/Chart.yaml', 'apiVersion: v2\nname: shop\n');
    write('mixed/route.yaml', `${parent}---\n${route('cart')}`);
    expect(check(['mixed'])).toEqual({ code: 0, stdout: '3 objects: 0 errors, 0 warnings\n', stderr: '' });
    expect(check(['--stateless', 'mixed']).stdout).toBe('3 objects: 0 errors, 0 warnings\n');
  });

  test('reads standard input beside files, and judges all together', () => {
    const gateway = write('gateway.yaml', parent);
    expect(check(['--closed', gateway, '-'], route('cart')).stdout).toBe('3 objects: 0 errors, 0 warnings\n');
    expect(check(['--closed', '-'], route('cart')).stdout).toContain('stdin:8:5: warning [parent-not-found]');
  });

  const referring = (refs: string): string => route('cart').replace(/filters: .*/, `backendRefs: [${refs}]`);

  test.each(['text', 'json', 'sarif', 'junit', 'github'])(
    'tells of references to what is not in the input only where that is all there is: %s',
    (format) => {
      const objects = referring('{ name: cart, port: 80 }, { name: stock, namespace: depot, port: 80 }');
      const told = (input: string, ...options: readonly string[]) =>
        check([...options, '-o', format, '-'], input).stdout.match(
          /(parent|backend)-not-(found|permitted)(?=[\],"]|::)/g,
        )?.length ?? 0;
      // SARIF lists the rules that there are.
      const named = told('');
      expect([told(objects), told(objects, '--closed')]).toEqual([named, named + 3]);
    },
  );

  test('writes no baseline of what it does not tell', () => {
    expect(check(['--write-baseline', 'open.json', '-'], route('cart')).stderr).toBe(
      '0 findings written to open.json\n',
    );
    expect(check(['--closed', '--write-baseline', 'closed.json', '-'], route('cart')).stderr).toBe(
      '1 findings written to closed.json\n',
    );
  });

  test('writes no baseline to a pipe, which would wait for a reader', () => {
    spawnSync('mkfifo', [join(folder, 'pipe')]);
    const { code, stderr } = check(['--write-baseline', 'pipe', '-'], route('cart'));
    expect(stderr).toContain('cannot use the baseline pipe: not a regular file');
    expect(code).toBe(2);
  });

  test('takes a folder as standard input for a mistake', () => {
    const directory = openSync(folder, 'r');
    const { status, stdout } = spawnSync(process.execPath, [built.program, 'check', '-'], {
      stdio: [directory, 'pipe', 'pipe'],
      encoding: 'utf8',
      env: { ...process.env, NODE_OPTIONS: '', NO_COLOR: '1' },
    });
    closeSync(directory);
    expect(stdout).toContain(
      'stdin:1:1: error [unreadable-file] cannot read the file: it is a folder; name the folder',
    );
    expect(status).toBe(1);
  });

  test('tells what is wrong between objects that are in the input, whatever else there is', () => {
    const service =
      'apiVersion: v1\nkind: Service\nmetadata: { name: cart, namespace: shop }\nspec: { ports: [{ port: 8080 }] }\n';
    const { stdout } = check(['-'], `${service}---\n${referring('{ name: cart, port: 80 }')}`);
    expect(stdout).toContain('warning [backend-not-found] spec.rules[0].backendRefs[0]');
  });

  describe('as JSON', () => {
    const mixed = `apiVersion: apps/v1
kind: Deployment
metadata: { name: cart, namespace: shop, annotations: { sallyport.dev/ignore: "path-syntax: no" } }
---
apiVersion: v1
kind: List
items:
- { apiVersion: gateway.networking.k8s.io/v1, kind: GatewayClass, metadata: { name: other }, spec: { controllerName: example.net/controller } }
- { apiVersion: gateway.networking.k8s.io/v1, kind: GatewayClass, metadata: { name: other }, spec: { controllerName: example.net/another } }
---
apiVersion: v2
name: a-chart
---
a: [
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { namespace: shop }
---
apiVersion: gateway.networking.k8s.io/v1
kind: TCPRoute
metadata: { name: db, annotations: { a: yes } }
spec: { parentRefs: [{ name: front }], rules: [{ backendRefs: [{ name: db, port: eighty }] }] }
---
${route('cart', mistake)}`;

    function entries(...options: readonly string[]): readonly unknown[] {
      const { objects } = JSON.parse(check([...options, '-o', 'json', '-'], mixed).stdout) as {
        readonly objects: readonly Readonly<Record<string, unknown>>[];
      };
      return objects.map(({ line, kind, namespace, name, verdict, findings }) => [
        line,
        kind,
        namespace,
        name,
        verdict,
        (findings as readonly { readonly rule: string; readonly effect: string }[]).map(
          ({ rule, effect }) => `${rule} ${effect}`,
        ),
      ]);
    }

    const [deployment, ...others] = [
      [1, 'Deployment', 'shop', 'cart', 'skipped', []],
      [8, 'GatewayClass', '', 'other', 'allowed', []],
      [9, 'GatewayClass', '', 'other', 'allowed', ['duplicate-object warn']],
      [16, 'HTTPRoute', 'shop', '', 'denied', ['invalid-object deny']],
      [20, 'TCPRoute', 'default', 'db', 'denied', ['schema deny']],
      [25, 'HTTPRoute', 'shop', 'cart', 'denied', ['backend-request-timeout deny']],
    ];

    test('lists every object with its verdict, those of others as skipped, and each of two that are one', () => {
      expect(entries()).toEqual([deployment, ...others]);
    });

    test('lists the same where each is judged by itself, except for what is between them', () => {
      const alone = others.map((entry) => (entry[0] === 9 ? [9, 'GatewayClass', '', 'other', 'allowed', []] : entry));
      expect(entries('--stateless')).toEqual([deployment, ...alone]);
    });

    test('keeps problems of files apart', () => {
      const { problems, summary } = JSON.parse(check(['-o', 'json', '-'], mixed).stdout) as {
        readonly problems: readonly unknown[];
        readonly summary: unknown;
      };
      expect(problems).toEqual([
        {
          file: 'stdin',
          line: 15,
          column: 1,
          rule: 'unreadable-file',
          severity: 'error',
          message: expect.stringContaining('invalid YAML'),
        },
        {
          file: 'stdin',
          line: 22,
          column: 41,
          rule: 'ambiguous-scalar',
          severity: 'warning',
          message: expect.any(String),
        },
      ]);
      expect(summary).toEqual({
        allowed: 2,
        denied: 3,
        skipped: 1,
        error: 4,
        warning: 2,
        note: 0,
        suppressed: 0,
        problemsLeftOut: 0,
      });
    });
  });

  test('judges each object by itself where it is to remember nothing', () => {
    const { code, stdout } = check(['--stateless', '-'], `${route('cart')}---\n${route('bad', mistake)}---\n${parent}`);
    expect(stdout).toContain('error [backend-request-timeout]');
    expect(stdout).not.toContain('parent-not-found');
    expect(stdout).toContain('4 objects: 1 error, 0 warnings\n');
    expect(code).toBe(1);
  });

  test.each([
    ['json', /^\{"tool":"sallyport"/],
    ['sarif', /^\{"\$schema"/],
    ['junit', /^<\?xml/],
    ['github', /^::error file=stdin,line=\d+,col=\d+,title=backend-request-timeout::/],
  ])('writes %s', (format, opening) => {
    const { code, stdout } = check(['--stateless', '-o', format, '-'], route('cart', mistake));
    expect(stdout).toMatch(opening);
    expect(code).toBe(1);
  });

  test('prints the page of a rule', () => {
    const { code, stdout } = check(['--explain', 'path-syntax']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: readFileSync('docs/rules/path-syntax.md', 'utf8') });
  });

  test('honours the annotation of an object, and only with a reason', () => {
    const annotated = (value: string) =>
      route('cart', mistake, `  annotations: { sallyport.dev/ignore: "${value}" }\n`);
    expect(check(['--stateless', '-'], annotated('backend-request-timeout: the backend is slow'))).toMatchObject({
      code: 0,
      stdout: '1 object: 0 errors, 0 warnings, 1 suppressed\n',
    });
    const { code, stdout } = check(['--stateless', '-'], annotated('backend-request-timeout'));
    expect(code).toBe(1);
    expect(stdout).toContain(
      'stdin:6:18: warning [suppression] metadata.annotations["sallyport.dev/ignore"]: silences backend-request-timeout without a reason',
    );
  });

  test('does not count what is in the baseline, wherever it stands by now', () => {
    const file = write('route.yaml', route('cart', mistake));
    const first = check(['--stateless', '--write-baseline', 'baseline.json', file]);
    expect(first).toEqual({
      code: 0,
      stdout: '1 object: 0 errors, 0 warnings, 1 suppressed\n',
      stderr: '1 findings written to baseline.json\n',
    });
    write(file, `# moved\n---\n${route('other', mistake)}---\n${route('cart', mistake)}`);
    const second = check(['--stateless', '--baseline', 'baseline.json', file]);
    expect(second.stdout).toMatch(/^route\.yaml:13:\d+: error \[backend-request-timeout\]/);
    expect(second.stdout).toContain('2 objects: 1 error, 0 warnings, 1 suppressed\n');
    expect(second.code).toBe(1);
  });

  test('judges with the settings of the webhook', () => {
    const policy = '{ name: shop, hostnames: ["*"], namespaces: { names: [platform] } }';
    const settings = write(
      'settings.yaml',
      `effects: { backend-request-timeout: none }\nhostnamePolicies: [${policy}]\n`,
    );
    const objects = write(
      'owned.yaml',
      `${route('cart', mistake)}---${gatewayObjects({ name: 'web', namespace: 'shop' }, '{ name: http, port: 80, protocol: HTTP }')}`,
    );
    const { code, stdout } = check(['--settings', settings, objects]);
    expect(code).toBe(1);
    expect(stdout).toContain('HostnamePolicy "shop (settings)" permits it only in namespace "platform"');
    expect(stdout).not.toContain('backend-request-timeout');
    const wrong = check(['--settings', write('wrong.yaml', 'hostnamePolicies: [{ name: shop }]'), objects]);
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain('wrong.yaml:1:');
    for (const other of [['--profile', 'strict'], ['--stateless']])
      expect(check(['--settings', settings, ...other, objects])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('cannot be used with'),
      });
  });
});
