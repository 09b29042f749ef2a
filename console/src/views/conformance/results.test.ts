import { describe, expect, it } from 'vitest';
import type {
  ConformanceReport,
  ConformanceResult,
} from '../../../../src/conformance/report/build-report.ts';
import { advanceRun, beginRun } from './conformance-run.ts';
import {
  distinctValues,
  noFilter,
  filterResults,
  resultKey,
  variantLabel,
  sortedResults,
} from './results.ts';

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
    const none = new Map();
    expect(filterResults(all, noFilter, none)).toEqual(all);
    expect(filterResults(all, { ...noFilter, verdict: 'fail' }, none)).toEqual([broken]);
    expect(filterResults(all, { ...noFilter, section: '3.10' }, none)).toEqual([held]);
    expect(filterResults(all, { ...noFilter, variant: '1.0 card' }, none)).toEqual([card]);
    expect(filterResults(all, { ...noFilter, text: 'WENT ON' }, none)).toEqual([broken]);
    expect(filterResults(all, { ...noFilter, text: 'core-1' }, none)).toEqual(all);
  });

  it('are filtered by level and by the difference to an earlier report', () => {
    const all = sortedResults({ categories });
    const change = {
      test: 'send.terminal',
      version: '1.0',
      transport: 'JSONRPC',
      kind: 'regression',
    } as const;
    const changes = new Map([[resultKey(change), change]]);
    expect(filterResults(all, { ...noFilter, change: 'regression' }, changes)).toEqual([broken]);
    expect(filterResults(all, { ...noFilter, change: 'fixed' }, changes)).toEqual([]);
    expect(filterResults(all, { ...noFilter, level: 'MAY' }, changes)).toEqual([]);
    expect(filterResults(all, { ...noFilter, level: 'MUST' }, changes)).toEqual(all);
  });

  it('have sections in numeric order', () => {
    expect(distinctValues(['3.10', '8', '3.2', '8'])).toEqual(['3.2', '3.10', '8']);
  });
});

describe('conformance run', () => {
  const begun = beginRun({ kind: 'started', agentId: 'a', agentName: 'echo', startedAt: 1 });
  const place = { version: '1.0', transport: 'JSONRPC' } as const;

  it('counts verdicts and lists ended checks, newest first', () => {
    const after = ['a', 'b', 'c'].reduce(
      (before, rule, at) =>
        advanceRun(before, {
          kind: 'checked',
          done: at + 1,
          total: 9,
          rule,
          level: 'MUST',
          verdict: at === 0 ? 'fail' : 'pass',
          ...place,
        }),
      begun,
    );
    expect(after).toMatchObject({ done: 3, total: 9, counts: { fail: 1, pass: 2 } });
    expect(after.ended.map(({ rule }) => rule)).toEqual(['c', 'b', 'a']);
  });

  it('lists the checks that are running, also the same rule in two variants', () => {
    const other = { version: '0.3', transport: 'JSONRPC' } as const;
    const checking = [place, other].reduce(
      (before, where) => advanceRun(before, { kind: 'checking', rule: 'a', ...where }),
      begun,
    );
    expect(checking.running).toHaveLength(2);
    const ended = { kind: 'checked', done: 1, total: 2, rule: 'a', level: 'MUST', verdict: 'pass' } as const;
    expect(advanceRun(checking, { ...ended, ...place }).running).toMatchObject([other]);
  });

  it('ignores unknown verdicts', () => {
    const odd = { kind: 'checked', done: 1, total: 2, rule: 'a', level: 'MUST', verdict: 'odd' } as const;
    expect(advanceRun(begun, { ...odd, ...place } as never).counts).toEqual({});
  });
});
