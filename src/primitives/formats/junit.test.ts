import { describe, expect, it } from 'vitest';
import { junitErrors } from '../../../test/support/reports/junit-schema.ts';
import { writeJunit } from './junit.ts';

describe('writeJunit', () => {
  it('writes suites, cases, counts and times', () => {
    const xml = writeJunit('run <1>', [
      {
        name: 'suite',
        timestamp: '2026-01-01T00:00:00',
        properties: { agent: 'http://a.test' },
        cases: [
          { name: 'passes', classname: 'a', milliseconds: 1_200 },
          {
            name: 'fails',
            classname: 'a',
            milliseconds: 34,
            failure: { message: '"1" < 2', type: 'MUST', text: 'a\nb' },
            systemOut: 'log',
          },
          { name: 'is skipped', classname: 'a', milliseconds: 0, skipped: { message: 'why' } },
          { name: 'breaks', classname: 'a', milliseconds: 0, error: { message: 'why' } },
        ],
      },
      { name: 'empty', cases: [] },
    ]);
    expect(junitErrors(xml)).toEqual([]);
    expect(xml).toMatchInlineSnapshot(`
      "<?xml version="1.0" encoding="UTF-8"?>
      <testsuites name="run &lt;1&gt;" tests="4" failures="1" errors="1" time="1.234">
        <testsuite name="suite" tests="4" failures="1" errors="1" time="1.234" skipped="1" timestamp="2026-01-01T00:00:00">
          <properties>
            <property name="agent" value="http://a.test"/>
          </properties>
          <testcase name="passes" classname="a" time="1.200"/>
          <testcase name="fails" classname="a" time="0.034">
            <failure message="&quot;1&quot; &lt; 2" type="MUST">a
      b</failure>
            <system-out>log</system-out>
          </testcase>
          <testcase name="is skipped" classname="a" time="0.000">
            <skipped message="why"/>
          </testcase>
          <testcase name="breaks" classname="a" time="0.000">
            <error message="why"/>
          </testcase>
        </testsuite>
        <testsuite name="empty" tests="0" failures="0" errors="0" time="0.000" skipped="0">
        </testsuite>
      </testsuites>
      "
    `);
  });
});
