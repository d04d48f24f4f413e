import { describe, expect, test } from '@jest/globals';
import { clusterChecks } from '../../../../src/cli/doctor/cluster.ts';
import { applyAgain, type AuthorityFacts, type DoctorFacts, type Verdict } from '../../../../src/cli/doctor/facts.ts';
import { diagnose, exitCodeOf, printVerdicts } from '../../../../src/cli/doctor/report.ts';
import { webhookChecks } from '../../../../src/cli/doctor/webhook.ts';
import type { ConfiguredWebhook } from '../../../../src/webhook/configuration/webhook-configuration.ts';
import { healthy, now } from '../../../support/doctor.ts';

function examine(changes: Partial<DoctorFacts>): readonly Verdict[] {
  return [...clusterChecks, ...webhookChecks].flatMap((check) => check({ ...healthy, ...changes }));
}

function verdict(changes: Partial<DoctorFacts>, check: string): Verdict | undefined {
  return examine(changes).find((each) => each.check === check);
}

function withWebhooks(...changes: readonly Partial<ConfiguredWebhook>[]): Partial<DoctorFacts> {
  const configuration = healthy.configuration.type === 'known' ? healthy.configuration.value : undefined;
  const webhook = configuration?.webhooks[0];
  if (configuration === undefined || webhook === undefined) throw new Error('no webhook');
  return {
    configuration: {
      type: 'known',
      value: { ...configuration, webhooks: changes.map((change) => ({ ...webhook, ...change })) },
    },
  };
}

function withAuthorities(value: AuthorityFacts | undefined): Partial<DoctorFacts> {
  return { authorities: { type: 'known', value } };
}

const current = { certificate: 'a', notAfter: now + 1_000_000_000, renewalTime: now + 1_000_000 };

describe('the doctor', () => {
  test('is content with a healthy cluster', () => {
    const verdicts = diagnose(healthy);
    expect(verdicts.filter(({ status }) => status !== 'ok')).toEqual([]);
    expect(verdicts).toHaveLength(16);
    expect(exitCodeOf(verdicts)).toBe(0);
  });

  test('says one thing only where the API server does not answer', () => {
    const verdicts = diagnose({ ...healthy, server: { type: 'unknown', problem: 'the API server cannot be reached' } });
    expect(verdicts).toEqual([
      {
        check: 'api-server',
        status: 'fail',
        message: 'the API server cannot be reached',
        commands: ['kubectl cluster-info'],
      },
    ]);
    expect(exitCodeOf(verdicts)).toBe(1);
  });

  test('goes on where only the version may not be read', () => {
    const verdicts = diagnose({ ...healthy, server: { type: 'known', value: undefined } });
    expect(verdicts.filter(({ status }) => status !== 'ok')).toEqual([
      {
        check: 'api-server',
        status: 'warn',
        message: 'answers, but you may not read its version',
        commands: ['kubectl auth can-i get /version'],
      },
    ]);
    expect(verdicts).toHaveLength(16);
  });

  test('prints a line a verdict, its commands, and a sum', () => {
    const lines: string[] = [];
    const terminal = {
      line: (text = '') => void lines.push(text),
      heading: () => undefined,
      style: (_: unknown, text: string) => text,
    };
    printVerdicts(terminal, [
      { check: 'a', status: 'ok', message: 'good', commands: [] },
      { check: 'b', status: 'fail', message: 'bad', commands: ['x'] },
    ]);
    expect(lines).toEqual(['ok   a: good', 'fail b: bad', '     $ x', '1 ok, 0 warnings, 1 failed']);
  });
});

const gateways = {
  account: 'hook',
  verbs: ['list', 'watch'],
  group: 'gateway.networking.k8s.io',
  resource: 'gateways',
};
const secret = { account: 'hook', verbs: ['get'], group: '', resource: 'secrets', namespace: 'n', name: 's' };

describe('permissions', () => {
  test('that are missing are named', () => {
    const permissions = {
      type: 'known' as const,
      value: { denied: [gateways, secret, { ...gateways, account: 'dog', verbs: ['get'] }], checked: 9 },
    };
    expect(examine({ permissions }).filter(({ check }) => check === 'permissions')).toEqual([
      {
        check: 'permissions',
        status: 'fail',
        message:
          'ServiceAccount "sallyport-system/hook" lacks list, watch gateways.gateway.networking.k8s.io; get secrets/s in n',
        commands: [applyAgain],
      },
      {
        check: 'permissions',
        status: 'fail',
        message: 'ServiceAccount "sallyport-system/dog" lacks get gateways.gateway.networking.k8s.io',
        commands: [applyAgain],
      },
    ]);
  });

  test('that cannot be asked for are no fault', () => {
    expect(verdict({ permissions: { type: 'unknown', problem: 'forbidden' } }, 'permissions')).toMatchObject({
      status: 'warn',
      message: expect.stringContaining('create SubjectAccessReviews: forbidden'),
    });
  });

  test('on Secrets are not missed where certificates come from elsewhere', () => {
    const permissions = { type: 'known' as const, value: { denied: [secret], checked: 9 } };
    expect(verdict({ permissions, ...withAuthorities(undefined) }, 'permissions')?.status).toBe('ok');
    expect(
      verdict({ permissions, ...withAuthorities(undefined), ...withWebhooks({ trusted: [] }) }, 'permissions')?.status,
    ).toBe('fail');
  });
});

describe('the configuration', () => {
  test('that is missing, unreadable or calls somebody else', () => {
    expect(verdict({ configuration: { type: 'known', value: undefined } }, 'webhook-configuration')).toMatchObject({
      status: 'fail',
      commands: [expect.any(String)],
    });
    expect(examine({ configuration: { type: 'known', value: undefined } }).map(({ check }) => check)).not.toContain(
      'webhook-ca-bundle',
    );
    expect(verdict({ configuration: { type: 'unknown', problem: 'forbidden' } }, 'webhook-configuration')?.status).toBe(
      'warn',
    );
    expect(verdict(withWebhooks({ service: undefined }), 'webhook-configuration')?.status).toBe('warn');
  });

  test('blocks writes while the webhook cannot be called: the break-glass command covers every webhook', () => {
    const facts = {
      ...withWebhooks({}, {}),
      probe: { type: 'failed' as const, phase: 'connect' as const, message: 'refused' },
    };
    expect(verdict(facts, 'webhook-failure-policy')).toMatchObject({
      status: 'fail',
      commands: [
        `kubectl patch validatingwebhookconfiguration sallyport-webhook --type=json -p '[{"op":"replace","path":"/webhooks/0/failurePolicy","value":"Ignore"},{"op":"replace","path":"/webhooks/1/failurePolicy","value":"Ignore"}]'`,
      ],
    });
  });

  test('is described where it does not block', () => {
    expect(verdict(withWebhooks({ failurePolicy: 'Ignore' }), 'webhook-failure-policy')).toMatchObject({
      status: 'ok',
      message: expect.stringContaining('Ignore'),
    });
    expect(verdict(withWebhooks({ failurePolicy: 'Ignore' }, {}), 'webhook-failure-policy')?.message).toContain(
      'for some',
    );
  });
});

test.each<Partial<DoctorFacts>>([
  { server: { type: 'unknown', problem: 'p' } },
  { kinds: { type: 'unknown', problem: 'p' } },
  { configuration: { type: 'unknown', problem: 'p' } },
  { configuration: { type: 'known', value: undefined } },
  { permissions: { type: 'known', value: { denied: [gateways], checked: 9 } } },
  withWebhooks({ service: undefined }),
  withWebhooks({ trusted: [] }),
  withAuthorities({ type: 'unreadable', problem: 'p' }),
  { authorities: { type: 'unknown', problem: 'p' } },
  { readyEndpoints: { type: 'unknown', problem: 'p' } },
  { readyEndpoints: { type: 'known', value: 0 } },
  { probe: { type: 'admitted' } },
  ...(['service', 'dns', 'connect', 'tls', 'http', 'timeout', 'unknown'] as const).map(
    (phase): Partial<DoctorFacts> => ({ probe: { type: 'failed', phase, message: 'm' } }),
  ),
])('whatever is wrong, there is a command to go on with: %j', (changes) => {
  const wrong = diagnose({ ...healthy, ...changes }).filter(({ status }) => status !== 'ok');
  expect(wrong).not.toEqual([]);
  for (const { commands } of wrong) expect(commands).not.toEqual([]);
});

describe('trust', () => {
  test('that is missing, or does not hold what signs', () => {
    expect(verdict(withWebhooks({ trusted: [] }), 'webhook-ca-bundle')).toMatchObject({
      status: 'fail',
      message: expect.stringContaining('no caBundle'),
    });
    expect(verdict(withWebhooks({ trusted: ['other'] }), 'webhook-ca-bundle')).toMatchObject({
      status: 'fail',
      message: expect.stringContaining('does not trust'),
    });
  });

  test('that lags behind the Secret', () => {
    const facts = {
      ...withWebhooks({ trusted: ['a', 'x'] }),
      ...withAuthorities({ type: 'authorities', current, bundle: ['a', 'b'] }),
    };
    expect(verdict(facts, 'webhook-ca-bundle')).toMatchObject({
      status: 'warn',
      message: expect.stringContaining('1 missing, 1 extra'),
    });
  });

  test('in the authority of somebody else', () => {
    expect(verdict(withAuthorities(undefined), 'webhook-ca-bundle')).toMatchObject({
      status: 'ok',
      message: expect.stringContaining('1 authority that Sallyport does not manage'),
    });
  });
});

describe('the authority', () => {
  test.each([
    ['fail', 'expired', { type: 'authorities', current: { ...current, notAfter: now }, bundle: ['a'] }],
    [
      'warn',
      'renewal is overdue',
      { type: 'authorities', current: { ...current, renewalTime: now - 700_000 }, bundle: ['a'] },
    ],
    ['ok', 'valid until', { type: 'authorities', current: { ...current, renewalTime: now - 1 }, bundle: ['a'] }],
    ['warn', 'no authority signs', { type: 'authorities', current: undefined, bundle: ['a'] }],
    ['fail', 'broken', { type: 'unreadable', problem: 'broken' }],
    ['ok', 'Secret "sallyport-system/sallyport-authority" not found', undefined],
  ] as const)('is %s: %s', (status, message, facts) => {
    expect(verdict(withAuthorities(facts), 'webhook-authority')).toMatchObject({
      status,
      message: expect.stringContaining(message),
    });
  });

  test('that may not be looked at', () => {
    expect(verdict({ authorities: { type: 'unknown', problem: 'forbidden' } }, 'webhook-authority')?.status).toBe(
      'warn',
    );
  });
});

describe('the way to the webhook', () => {
  test.each([
    [0, 'fail'],
    [1, 'warn'],
    [2, 'ok'],
  ] as const)('with %i ready pods: %s', (value, status) => {
    expect(verdict({ readyEndpoints: { type: 'known', value } }, 'webhook-endpoints')?.status).toBe(status);
  });

  test('that cannot be seen', () => {
    expect(verdict({ readyEndpoints: { type: 'unknown', problem: 'forbidden' } }, 'webhook-endpoints')?.status).toBe(
      'warn',
    );
  });

  test.each([
    ['fail', 'firewall', { type: 'failed', phase: 'timeout', message: 'context deadline exceeded' }],
    ['fail', 'TLS', { type: 'failed', phase: 'tls', message: 'x509' }],
    ['fail', 'admitted the probe', { type: 'admitted' }],
    ['warn', 'does not serve GatewayClass', { type: 'suspended', message: 'm' }],
    ['warn', 'was inconclusive: forbidden', { type: 'inconclusive', message: 'forbidden' }],
    ['ok', 'denied the probe', { type: 'denied' }],
  ] as const)('is %s: %s', (status, message, probe) => {
    expect(verdict({ probe }, 'webhook-reachable')).toMatchObject({
      status,
      message: expect.stringContaining(message),
    });
  });
});
