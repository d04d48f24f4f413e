import { describe, expect, test } from '@jest/globals';
import { createAdmissionMetrics } from '../../../src/telemetry/admission.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';

describe('createMetrics', () => {
  test('prints counters and gauges with prefix, help, type and labels', async () => {
    const metrics = createMetrics();
    const requests = metrics.counter({ name: 'requests_total', help: 'Requests.', labels: ['method', 'code'] });
    requests.at('GET', '200').value += 2;
    requests.at('GET', '500').value += 1;
    requests.at('GET', '200').value += 1;
    metrics.gauge({ name: 'inflight', help: 'Open.', labels: [] }).at().value = 4;
    expect(await metrics.scrape()).toBe(
      [
        '# HELP sallyport_requests_total Requests.',
        '# TYPE sallyport_requests_total counter',
        'sallyport_requests_total{method="GET",code="200"} 3',
        'sallyport_requests_total{method="GET",code="500"} 1',
        '',
        '# HELP sallyport_inflight Open.',
        '# TYPE sallyport_inflight gauge',
        'sallyport_inflight 4',
        '',
      ].join('\n'),
    );
  });

  test('escapes label values', async () => {
    const metrics = createMetrics();
    metrics.counter({ name: 'a_total', help: 'A.', labels: ['kind'] }).at('a"b\\c\nd').value = 1;
    expect(await metrics.scrape()).toContain(String.raw`sallyport_a_total{kind="a\"b\\c\nd"} 1`);
  });

  test('prints histograms with cumulative buckets', async () => {
    const metrics = createMetrics();
    const duration = metrics.histogram({ name: 'duration_seconds', help: 'Time.', labels: ['method'] }, [0.1, 1]);
    for (const seconds of [0.1, 0.5, 2, 4]) duration.at('GET').observe(seconds);
    const lines = (await metrics.scrape()).split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        '# TYPE sallyport_duration_seconds histogram',
        'sallyport_duration_seconds_bucket{le="0.1",method="GET"} 1',
        'sallyport_duration_seconds_bucket{le="1",method="GET"} 2',
        'sallyport_duration_seconds_bucket{le="+Inf",method="GET"} 4',
        'sallyport_duration_seconds_sum{method="GET"} 6.6',
        'sallyport_duration_seconds_count{method="GET"} 4',
      ]),
    );
  });

  test('reads observed values at scrape time', async () => {
    const metrics = createMetrics();
    const readings = [{ labels: ['a'], value: 1 }];
    metrics.observed({ name: 'age_seconds', help: 'Age.', labels: ['cache'] }, () => readings);
    expect(await metrics.scrape()).toContain('sallyport_age_seconds{cache="a"} 1\n');
    readings[0] = { labels: ['a'], value: 7 };
    expect(await metrics.scrape()).toContain('sallyport_age_seconds{cache="a"} 7\n');
    readings.pop();
    expect(await metrics.scrape()).not.toContain('sallyport_age_seconds{');
  });

  test('counts under "other" when clients invent more labels than a family may have', async () => {
    const metrics = createMetrics();
    const family = metrics.counter({ name: 'a_total', help: 'A.', labels: ['kind'] });
    for (let kind = 0; kind < 600; kind++) family.at(`kind-${kind}`).value += 1;
    family.at('kind-0').value += 1;
    const text = await metrics.scrape();
    expect(text).toContain('sallyport_a_total{kind="other"} 100\n');
    expect(text).toContain('sallyport_a_total{kind="kind-0"} 2\n');
    expect(text.match(/^sallyport_a_total\{/gm)).toHaveLength(501);
  });

  test('adds the customary metrics of process and runtime under their customary names', async () => {
    const metrics = createMetrics();
    expect(await metrics.scrape()).not.toContain('process_');
    metrics.observeProcess();
    expect(await metrics.scrape()).toMatch(/^process_resident_memory_bytes \d+$/m);
    expect(await metrics.scrape()).toMatch(/^nodejs_eventloop_lag_seconds /m);
    expect(await metrics.scrape()).toMatch(/^sallyport_process_eventloop_active_seconds_total \d/m);
    expect(await metrics.scrape()).toMatch(/^sallyport_log_lines_omitted_total \d/m);
    // The values of a timer that never fires would mislead.
    expect(await metrics.scrape()).not.toMatch(/eventloop_lag_(?!seconds)/);
  });

  test('refuses one name twice', () => {
    const metrics = createMetrics();
    const define = () => metrics.counter({ name: 'a_total', help: 'A.', labels: [] });
    define();
    expect(define).toThrow('already been registered');
  });
});

describe('createAdmissionMetrics', () => {
  test('names what an operator of a webhook looks for', async () => {
    const metrics = createMetrics();
    const admission = createAdmissionMetrics(metrics, { cacheAge: () => 3, certificateExpiry: () => 1_800_000_000 });
    admission.requests.at('HTTPRoute', 'CREATE', 'denied', 'false').value += 1;
    admission.duration.at('CREATE').observe(0.0002);
    admission.findings.at('header-acted-on-twice', 'deny').value += 1;
    admission.degraded.at('malformed').value += 1;
    const text = await metrics.scrape();
    expect(text.split('\n')).toEqual(
      expect.arrayContaining([
        'sallyport_admission_requests_total{kind="HTTPRoute",operation="CREATE",verdict="denied",dry_run="false"} 1',
        'sallyport_admission_duration_seconds_bucket{le="0.0001",operation="CREATE"} 0',
        'sallyport_admission_duration_seconds_bucket{le="0.00025",operation="CREATE"} 1',
        'sallyport_admission_rule_findings_total{rule="header-acted-on-twice",mode="deny"} 1',
        'sallyport_admission_degraded_total{reason="malformed"} 1',
        'sallyport_admission_inflight 0',
        'sallyport_admission_cache_age_seconds 3',
        'sallyport_admission_cert_not_after_seconds 1800000000',
      ]),
    );
  });

  test('leaves out what is not known', async () => {
    const metrics = createMetrics();
    createAdmissionMetrics(metrics, { cacheAge: () => undefined, certificateExpiry: () => undefined });
    const text = await metrics.scrape();
    expect(text).not.toMatch(/^sallyport_admission_(cache_age|cert_not_after)/m);
  });
});
