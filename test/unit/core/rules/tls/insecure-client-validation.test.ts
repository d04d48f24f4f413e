import { describe, expect, test } from '@jest/globals';
import { found, ourClass } from '../../../../support/evaluation.ts';
import { validatingGateway } from '../../../../support/client-validation.ts';

const judged = (frontend: object) => found('insecure-client-validation', [validatingGateway(frontend), ourClass]);

describe('insecure-client-validation', () => {
  test('by default and for a port', () => {
    const tls = { validation: { mode: 'AllowInsecureFallback' } };
    expect(
      judged({
        default: tls,
        perPort: [
          { port: 80, tls: {} },
          { port: 443, tls },
        ],
      }),
    ).toEqual([
      [
        'spec.tls.frontend.default.validation.mode',
        expect.stringContaining(
          'spec.tls.frontend.default.validation.mode: AllowInsecureFallback admits clients without a valid certificate, so backends must reject them. Use AllowValidOnly, unless this is intended.',
        ),
        'InsecureFrontendValidationMode ConfigurationChanged object',
      ],
      [
        'spec.tls.frontend.perPort[1].tls.validation.mode',
        expect.any(String),
        'InsecureFrontendValidationMode ConfigurationChanged object',
      ],
    ]);
  });

  test.each([
    {},
    { default: {} },
    { default: { validation: { mode: 'AllowValidOnly' } } },
    { default: { validation: { mode: 'Other' } } },
  ])('%j is fine', (frontend) => {
    expect(judged(frontend)).toEqual([]);
  });
});
