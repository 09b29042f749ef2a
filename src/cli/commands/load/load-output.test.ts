import { describe, expect, it } from 'vitest';
import { createLoadPlan } from '../../../load/load-plan.ts';
import type { LoadProgress, LoadReport } from '../../../load/load-report.ts';
import { formatLoadReport, formatMilliseconds } from './format-load-report.ts';
import { createLoadDisplay } from './progress.ts';

const latency = { min: 1, mean: 5, p50: 2.345, p90: 34.56, p99: 456.7, p999: 460, max: 461 };

const report: LoadReport = {
  plan: createLoadPlan({ operation: 'send', rate: 100 }),
  loop: 'open',
  isStopped: false,
  duration: 10_000,
  requests: 900,
  succeeded: 890,
  failed: 10,
  unsent: 100,
  abandoned: 0,
  throughput: 89,
  events: 0,
  latency,
  firstEvent: undefined,
  sendDelay: { ...latency, p99: 40 },
  errors: [{ reason: 'UNAVAILABLE', count: 10, example: 'refused\n\u001B[2Jby the agent' }],
};

const progress: LoadProgress = {
  phase: 'measuring',
  elapsed: 4_000,
  share: 0.364,
  requests: 300,
  errors: 0,
  open: 4,
  interval: 2_000,
  last: { requests: 201, errors: 0, events: 0, latency },
};

describe('text report of a load run', () => {
  it('contains all figures, and errors without control characters', () => {
    const endpoint = { url: 'http://localhost:4000', version: '1.0', transport: 'JSONRPC' } as const;
    expect(formatLoadReport(report, endpoint).split('\n')).toEqual([
      'Agent:       http://localhost:4000 (1.0, JSONRPC)',
      'Load:        send, open loop, 100 requests/s, 10.0 s',
      'Requests:    900, 10 failed',
      'Throughput:  89.0 successful requests/s',
      'Latency:     p50 2.35 ms, p90 34.6 ms, p99 457 ms, p99.9 460 ms, max 461 ms',
      'Not sent:    100 due requests, because 256 were open; latencies do not include them',
      'Sent late:   p99 40.0 ms, included in the latencies',
      'Errors:',
      '       10  UNAVAILABLE: refused \uFFFD[2Jby the agent',
      '',
    ]);
  });

  it('formats durations with three digits', () => {
    expect([undefined, 0, 9.994, 10, 99.94, 1_234.5].map(formatMilliseconds)).toEqual([
      '–',
      '0.00 ms',
      '9.99 ms',
      '10.0 ms',
      '99.9 ms',
      '1235 ms',
    ]);
  });
});

describe('progress line of a load run', () => {
  function display(isTTY: boolean): { written: string[]; output: Parameters<typeof createLoadDisplay>[0] } {
    const written: string[] = [];
    const write = (text: string | Uint8Array): boolean => written.push(String(text)) > 0;
    return { written, output: { isTTY, write } };
  }

  it('is rewritten on a terminal', () => {
    const { written, output } = display(true);
    const line = createLoadDisplay(output);
    line.update(progress);
    line.update({ ...progress, errors: 3 });
    line.clear();
    // oxlint-disable-next-line no-control-regex -- removes colors
    const plain = written.map((text) => text.replaceAll(/\u001B\[\d+m/g, ''));
    const figures = '\r\u001B[K36 % measuring, 101 requests/s, p50 2.35 ms, p99 457 ms, 4 open';
    expect(plain).toEqual([figures, `${figures}, 3 errors`, '\r\u001B[K']);
  });

  it('is not written to files and pipes', () => {
    const { written, output } = display(false);
    createLoadDisplay(output).update(progress);
    expect(written).toEqual([]);
  });
});
