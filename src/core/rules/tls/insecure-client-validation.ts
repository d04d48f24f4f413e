import { formatPath } from '../../resources/path.ts';
import type { Resource } from '../../resources/resource.ts';
import { warned } from '../engine/effects.ts';
import { rule } from '../engine/rule.ts';

export const insecureClientValidation = rule({
  id: 'insecure-client-validation',
  kinds: ['Gateway'],
  summary: 'Clients without a valid certificate are admitted.',
  effect: warned,
  consequence: { condition: 'InsecureFrontendValidationMode', reason: 'ConfigurationChanged', scope: 'object' },
  source: 'Gateway API v1.7.0, FrontendTLSValidation.mode; GatewayConditionInsecureFrontendValidationMode',
  check(gateway, _read, report) {
    for (const { path, mode } of validationModes(gateway)) {
      if (mode !== 'AllowInsecureFallback') continue;
      report({
        path,
        value: mode,
        message: `${formatPath(path)}: AllowInsecureFallback admits clients without a valid certificate, so backends must reject them. Use AllowValidOnly, unless this is intended.`,
      });
    }
  },
});

function validationModes({ spec }: Resource<'Gateway'>) {
  const { default: whole, perPort = [] } = spec?.tls?.frontend ?? {};
  const ofPorts = perPort.map(({ tls }, index) => ({
    path: ['spec', 'tls', 'frontend', 'perPort', index, 'tls', 'validation', 'mode'],
    mode: tls?.validation?.mode,
  }));
  return [
    { path: ['spec', 'tls', 'frontend', 'default', 'validation', 'mode'], mode: whole?.validation?.mode },
    ...ofPorts,
  ];
}
