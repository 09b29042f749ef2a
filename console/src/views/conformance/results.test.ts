import { describe, expect, it } from 'vitest';
import type {
  ConformanceReport,
  ConformanceResult,
} from '../../../../src/conformance/report/build-report.ts';
import { advanceRun, type ConformanceRun } from './conformance-run.ts';
import { distinctValues, noFilter, filterResults, variantLabel, sortedResults } from './results.ts';

function result(test: string, more: Partial<ConformanceResult> = {}): ConformanceResult {
  return {
    test,
    category: 'lifecycle',
    status: 'pass',
    verdict: 'pass',
    level: 'MUST',
    section: '3.1',
    rule: 'Something holds.',
    requirements: ['CORE-1'],
    version: '1.0',
    transport: 'JSONRPC',
    observations: 1,
    remediation: 'Fix it.',
    ...more,
  };
}

const { transport: _, ...card } = result('card.shape', { section: '8', verdict: 'warn' });
const broken = result('send.terminal', { verdict: 'fail', message: 'It went on.' });
const held = result('get.known', { section: '3.10', transport: 'HTTP+JSON' });
const categories: ConformanceReport['categories'] = {
  agentCard: [card],
  lifecycle: [held, broken],
  streaming: [],
  errorHandling: [],
  interop: [],
};

describe('conformance results', () => {
  it('are sorted worst first', () => {
    expect(sortedResults({ categories })).toEqual([broken, card, held]);
  });

  it('contain their variant', () => {
    expect([card, held].map(variantLabel)).toEqual(['1.0 card', '1.0 HTTP+JSON']);
  });

  it('are filtered by verdict, section, variant and text', () => {
    const all = sortedResults({ categories });
    expect(filterResults(all, noFilter)).toEqual(all);
    expect(filterResults(all, { ...noFilter, verdict: 'fail' })).toEqual([broken]);
    expect(filterResults(all, { ...noFilter, section: '3.10' })).toEqual([held]);
    expect(filterResults(all, { ...noFilter, variant: '1.0 card' })).toEqual([card]);
    expect(filterResults(all, { ...noFilter, text: 'WENT ON' })).toEqual([broken]);
    expect(filterResults(all, { ...noFilter, text: 'core-1' })).toEqual(all);
  });

  it('have sections in numeric order', () => {
    expect(distinctValues(['3.10', '8', '3.2', '8'])).toEqual(['3.2', '3.10', '8']);
  });
});

describe('conformance run', () => {
  const begun: ConformanceRun = { agentName: 'echo', done: 0, total: 0, counts: {}, latest: [] };

  it('counts verdicts and lists the last rules, newest first', () => {
    const after = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].reduce(
      (before, rule, at) =>
        advanceRun(before, {
          kind: 'progress',
          done: at + 1,
          total: 9,
          rule,
          verdict: at === 0 ? 'fail' : 'pass',
        }),
      begun,
    );
    expect(after).toMatchObject({ done: 7, total: 9, counts: { fail: 1, pass: 6 } });
    expect(after.latest.map(({ rule }) => rule)).toEqual(['g', 'f', 'e', 'd', 'c', 'b']);
  });

  it('ignores unknown verdicts and missing rules', () => {
    expect(advanceRun(begun, { kind: 'progress', done: 1, total: 2 })).toEqual({
      ...begun,
      done: 1,
      total: 2,
    });
    expect(
      advanceRun(begun, { kind: 'progress', done: 1, total: 2, rule: 'a', verdict: 'odd' }).counts,
    ).toEqual({});
  });
});
