import { describe, expect, test } from '@jest/globals';
import { permissions } from '../../../../src/cli/doctor/cluster.ts';
import type { DoctorFacts } from '../../../../src/cli/doctor/facts.ts';
import { diagnose } from '../../../../src/cli/doctor/report.ts';
import type { ConfiguredWebhook } from '../../../../src/webhook/configuration/webhook-configuration.ts';
import { healthy } from '../../../support/doctor.ts';

const validating = healthy.configuration.type === 'known' ? healthy.configuration.value?.webhooks[0] : undefined;

function withImpact(...changes: readonly Partial<ConfiguredWebhook>[]): DoctorFacts {
  if (validating === undefined) throw new Error('a healthy cluster has a webhook');
  const webhooks = changes.map((change): ConfiguredWebhook => ({ ...validating, failurePolicy: 'Ignore', ...change }));
  return {
    ...healthy,
    impactConfiguration: { type: 'known', value: { name: 'sallyport-impact', uid: '2', version: '1', webhooks } },
  };
}

function verdicts(facts: DoctorFacts): readonly (readonly [status: string, message: string])[] {
  return diagnose(facts)
    .filter(({ check }) => check === 'webhook-impact')
    .map(({ status, message }) => [status, message]);
}

describe('the configuration for warnings', () => {
  test('is not missed, because it is off by default', () => {
    expect(verdicts(healthy)).toEqual([]);
  });

  test('is fine if it calls the webhook, trusts it and only warns', () => {
    expect(verdicts(withImpact({}, {}))).toEqual([
      [
        'ok',
        'sallyport-impact calls Service "sallyport-system/sallyport-webhook", and only warns: failurePolicy is Ignore',
      ],
    ]);
  });

  test('must not block writes', () => {
    expect(verdicts(withImpact({}, { failurePolicy: 'Fail' }))).toEqual([
      ['fail', expect.stringMatching(/^sallyport-impact has failurePolicy Fail: .* It must be Ignore$/)],
    ]);
  });

  test.each([[[]], [['-----BEGIN CERTIFICATE-----\nBBBB\n-----END CERTIFICATE-----\n']]])(
    'does not work without the authorities of the validating one: %j',
    (trusted: readonly string[]) => {
      expect(verdicts(withImpact({}, { trusted }))).toEqual([
        [
          'warn',
          'the caBundle of sallyport-impact differs from sallyport-webhook, so there are no warnings. The leader of the webhook updates it within a minute, if it runs with --impact-configuration=sallyport-impact',
        ],
      ]);
    },
  );

  test('is of no use if it calls another Service', () => {
    expect(verdicts(withImpact({ name: 'services', service: { namespace: 'other', name: 'hook' } }))).toEqual([
      ['warn', 'services of sallyport-impact does not call Service "sallyport-system/sallyport-webhook"'],
    ]);
  });

  test('that cannot be read is reported', () => {
    expect(verdicts({ ...healthy, impactConfiguration: { type: 'unknown', problem: 'forbidden' } })).toEqual([
      ['warn', 'cannot read the configuration for warnings: forbidden'],
    ]);
  });

  test('needs its permission only if it is installed', () => {
    const denied = {
      account: 'sallyport-webhook',
      verbs: ['patch'],
      group: 'admissionregistration.k8s.io',
      resource: 'validatingwebhookconfigurations',
      name: 'sallyport-impact',
    };
    const lacking: Pick<DoctorFacts, 'permissions'> = {
      permissions: { type: 'known', value: { checked: 1, denied: [denied] } },
    };
    expect(permissions({ ...healthy, ...lacking })).toMatchObject([{ status: 'ok' }]);
    expect(permissions({ ...withImpact({}), ...lacking })).toMatchObject([
      { status: 'fail', message: expect.stringContaining('patch validatingwebhookconfigurations') },
    ]);
  });
});
