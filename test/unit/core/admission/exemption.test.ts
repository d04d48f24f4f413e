import { describe, expect, test } from '@jest/globals';
import { exemptionOf } from '../../../../src/core/admission/exemption.ts';
import type { AdmissionPolicy } from '../../../../src/core/admission/policy.ts';
import type { AdmissionVerdict } from '../../../../src/core/admission/types.ts';
import { evaluate, standardPolicy } from '../../../support/evaluation.ts';
import { cartRoute, decide, platform, requestOf, rule, wrongRule } from './requests.ts';

const today = '2026-11-23';
const world = evaluate(platform);
const permitting = { ...standardPolicy, exempting: { annotations: 'permit', today } } as const;

function exempt(reason: unknown, until: unknown): object {
  return { annotations: { 'sallyport.dev/exempt': reason, 'sallyport.dev/exempt-until': until } };
}

function admission(metadata: object, policy: AdmissionPolicy = permitting): AdmissionVerdict {
  return decide(world, requestOf({ object: cartRoute([wrongRule], metadata) }), { policy });
}

describe('an exemption', () => {
  test('turns denials into warnings until its last day, and the audit log says so', () => {
    for (const until of [today, '2026-12-31'])
      expect(admission(exempt('moves soon', until))).toEqual({
        allowed: true,
        warnings: [
          expect.stringMatching(
            new RegExp(`^\\[redirect-with-backends\\] spec\\.rules\\[0\\]\\.filters\\[0\\]: Exempt until ${until}: .*`),
          ),
        ],
        findings: [{ rule: 'redirect-with-backends', mode: 'exempt' }],
        auditAnnotations: { exempted: 'redirect-with-backends' },
      });
  });

  test('changes neither other warnings nor objects without findings', () => {
    const { warnings } = decide(
      world,
      requestOf({
        object: cartRoute([{ backendRefs: [{ name: 'gone', port: 80 }] }], exempt('moves soon', '2026-12-31')),
      }),
      { policy: permitting },
    );
    expect(warnings).toEqual([expect.stringMatching(/^\[backend-not-found\] .*500\.$/)]);
    expect(
      decide(world, requestOf({ object: cartRoute([rule], exempt('x', '2026-12-31')) }), { policy: permitting }),
    ).toMatchObject({
      allowed: true,
      warnings: [],
    });
  });

  test.each<[string, readonly [unknown, unknown], string, string]>([
    [
      'expired',
      ['moves soon', '2026-11-22'],
      'exempt-until',
      'The exemption expired after 2026-11-22. Correct the object and remove the annotations, or set a later date in sallyport.dev/exempt-until.',
    ],
    [
      'not a date',
      ['moves soon', '31.12.2026'],
      'exempt-until',
      'Invalid exemption: the last day must be a date, not "31.12.2026". Set sallyport.dev/exempt-until: "2026-11-23", or a later date.',
    ],
    [
      'without an end',
      ['moves soon', undefined],
      'exempt-until',
      'Invalid exemption: the last day must be a date, not nothing. Set sallyport.dev/exempt-until: "2026-11-23", or a later date.',
    ],
    [
      'without a reason',
      [' ', '2026-12-31'],
      'exempt',
      'Invalid exemption: a reason is required. Set sallyport.dev/exempt: "why".',
    ],
    [
      'of a wrong type',
      [7, '2026-12-31'],
      'exempt',
      'Invalid exemption: a reason is required. Set sallyport.dev/exempt: "why".',
    ],
  ])('%s exempts from nothing, and a warning says how to write it', (_case, [reason, until], annotation, message) => {
    expect(admission(exempt(reason, until))).toMatchObject({
      allowed: false,
      warnings: expect.arrayContaining([`[exemption] metadata.annotations["sallyport.dev/${annotation}"]: ${message}`]),
    });
  });

  test('is ignored with a warning if the settings forbid it', () => {
    const forbidding = { ...permitting, exempting: { annotations: 'forbid', today } } as const;
    expect(admission(exempt('moves soon', '2026-12-31'), forbidding)).toMatchObject({
      allowed: false,
      warnings: [
        '[exemption] metadata.annotations["sallyport.dev/exempt"]: The exemption is ignored, because the settings forbid it. Correct the object, or ask the operator of Sallyport to set exemptions.annotations: permit.',
      ],
    });
  });

  test('is not read where exemptions do not exist', () => {
    expect(admission(exempt('moves soon', 'never'), standardPolicy)).toMatchObject({ allowed: false, warnings: [] });
  });

  test('that is invalid is reported when only the annotation changes', () => {
    const oldObject = cartRoute([wrongRule]);
    const object = cartRoute([wrongRule], exempt('moves soon', 'tomorrow'));
    expect(decide(world, requestOf({ object, oldObject }), { policy: permitting })).toMatchObject({
      allowed: true,
      warnings: [expect.stringMatching(/^\[exemption\] .*not "tomorrow"/)],
    });
  });

  test('that ends does not deny a change of another part', () => {
    const metadata = exempt('moves soon', '2026-11-22');
    const [oldObject, object] = [cartRoute([wrongRule], metadata), cartRoute([wrongRule, rule], metadata)];
    expect(decide(world, requestOf({ object, oldObject }), { policy: permitting })).toMatchObject({ allowed: true });
  });

  test('in the profile audit is no denial that is withheld', () => {
    expect(admission(exempt('moves soon', '2026-12-31'), { ...permitting, profile: 'audit' })).toMatchObject({
      allowed: true,
      warnings: [],
      auditAnnotations: { exempted: 'redirect-with-backends' },
    });
  });

  test('covers changes that the bundle forbids', () => {
    const gatewayClass = (controllerName: string): object => ({
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'GatewayClass',
      metadata: { name: 'other', ...exempt('renamed', '2026-12-31') },
      spec: { controllerName },
    });
    expect(
      decide(
        world,
        requestOf({ object: gatewayClass('example.com/new'), oldObject: gatewayClass('example.com/old') }),
        { policy: permitting },
      ),
    ).toMatchObject({ allowed: true, auditAnnotations: { exempted: 'controller-name-changed' } });
  });

  test.each([undefined, null, 7, [], {}, { metadata: [] }, { metadata: { annotations: 'x' } }])(
    'is not found in %j',
    (json) => {
      expect(exemptionOf(json, today)).toEqual({ type: 'none' });
    },
  );

  test('has a reason that is safe to print', () => {
    expect(exemptionOf({ metadata: exempt(`a\n\u202e${'b'.repeat(1000)}`, '2026-12-31') }, today)).toMatchObject({
      type: 'valid',
      reason: expect.stringMatching(/^a\\n\\u\{?202e\}?b+…$/),
    });
  });
});
