import { describe, expect, test } from '@jest/globals';
import { writeJunit } from '../../../../../src/cli/report/formats/junit.ts';
import { problem, reported, skipped, written } from '../../../../support/report.ts';

describe('junit', () => {
  test('has a suite for each file and a case for each object, which fails by its errors', async () => {
    const fine = reported('kind: HTTPRoute\n', []);
    const bad = reported(
      'kind: HTTPRoute\n',
      [
        { rule: 'one', severity: 'error', path: ['kind'], message: 'a < b & "c"\u0001' },
        { rule: 'two', severity: 'warning', path: [], message: 'unusual' },
      ],
      'b.yaml',
    );
    expect(await written(writeJunit, problem({}), fine, skipped('kind: Deployment\n'), bad))
      .toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="sallyport">
  <testsuite name="a.yaml" tests="2" failures="1" errors="0" skipped="0" time="0">
    <testcase classname="a.yaml" name="file" time="0">
      <failure type="unreadable-file" message="it is broken">a.yaml:1:1: error [unreadable-file] it is broken</failure>
    </testcase>
    <testcase classname="a.yaml" name="HTTPRoute shop/cart" time="0"/>
  </testsuite>
  <testsuite name="b.yaml" tests="1" failures="1" errors="0" skipped="0" time="0">
    <testcase classname="b.yaml" name="HTTPRoute shop/cart" time="0">
      <failure type="one" message="kind: a &lt; b &amp; &quot;c&quot;\\u0001">b.yaml:1:1: error [one] kind: a &lt; b &amp; &quot;c&quot;\\u0001</failure>
      <system-out>b.yaml:1:1: warning [two] unusual</system-out>
    </testcase>
  </testsuite>
</testsuites>
`);
  });

  test('escapes what XML cannot hold, in names too', async () => {
    const object = reported('kind: HTTPRoute\n', [], 'a\u0000\uffff.yaml');
    expect(await written(writeJunit, object)).toContain('classname="a\\u0000\\uffff.yaml"');
  });
});
