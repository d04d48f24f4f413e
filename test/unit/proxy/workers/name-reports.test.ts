import { expect, test } from '@jest/globals';
import type { EndpointsConfig } from '../../../../src/core/routing/config.ts';
import type { NameReport } from '../../../../src/proxy/upstream/external-names.ts';
import { NameReports } from '../../../../src/proxy/workers/name-reports.ts';
import { endpointsConfig } from '../../../support/config.ts';

const problem = 'the name does not exist or has no addresses';

function external(service: string, hostname: string): EndpointsConfig {
  return { ...endpointsConfig(service), external: { hostname, port: 443 } };
}

function collecting() {
  const reported: NameReport[] = [];
  return { reported, reports: new NameReports((report) => reported.push(report)) };
}

test('each change of a problem is reported once, whichever worker finds it first', () => {
  const { reported, reports } = collecting();
  const found = { hostname: 'a.example', problem };
  const over = { hostname: 'a.example', problem: '' };
  for (const report of [over, found, found, over, over, found]) reports.receive(report);
  expect(reported).toEqual([found, over, found]);
});

// The owner of an XBackend can change its name again and again, and each name stayed in memory for ever.
test('problems of names that are no longer used are forgotten', () => {
  const { reports } = collecting();
  for (let number = 0; number < 1_000; number += 1) {
    reports.receive({ hostname: `n${number}.example`, problem });
    reports.forgetUnused([external('app', `n${number}.example`)], [external('app', `n${number + 1}.example`)]);
  }
  expect(reports.size).toBe(0);
});

test('a name that is used again is reported again', () => {
  const { reported, reports } = collecting();
  reports.receive({ hostname: 'a.example', problem });
  reports.forgetUnused([external('app', 'a.example')], []);
  reports.receive({ hostname: 'a.example', problem });
  expect(reported).toHaveLength(2);
});

test('the problem of a name stays known while another backend has the name', () => {
  const { reported, reports } = collecting();
  reports.receive({ hostname: 'a.example', problem });
  reports.forgetUnused(
    [undefined, endpointsConfig('app'), external('app', 'a.example')],
    [endpointsConfig('app'), external('other', 'a.example')],
  );
  reports.receive({ hostname: 'a.example', problem });
  expect(reported).toHaveLength(1);
  expect(reports.size).toBe(1);
});
