import { describe, expect, it } from 'vitest';
import type { TrafficRecord } from '../../../../src/tap/traffic-record.ts';
import { layoutArrow, visibleColumns, columnWidth, columnX } from './diagram/layout.ts';
import { prettyPrint } from './pretty-print.ts';
import { recordSummary, accessibleLabel } from './labels.ts';

const record: TrafficRecord = {
  sequence: 1,
  at: new Date(2026, 0, 2, 3, 4, 5, 6).getTime(),
  exchangeId: 'a',
  kind: 'response',
  from: 'agent',
  to: 'caller',
  text: '',
  http: { method: 'POST', url: 'http://127.0.0.1:1/a?b', status: 404, headers: {} },
};

describe('row labels', () => {
  it('use the summary, or the raw content', () => {
    expect(recordSummary({ ...record, decoded: { summary: 'task not found' } })).toBe('task not found');
    expect(recordSummary(record)).toBe('HTTP 404');
    expect(recordSummary({ ...record, kind: 'request' })).toBe('POST /a');
    expect(recordSummary({ ...record, kind: 'end', text: 'the reader left' })).toBe('the reader left');
  });

  it('describe a row in one sentence', () => {
    const losses = [{ path: 'a', kind: 'dropped' as const, note: 'b' }];
    expect(
      accessibleLabel({ ...record, decoded: { summary: 'task not found', version: '0.3', losses } }),
    ).toBe('03:04:05.006, agent to caller, answer task not found, version 0.3, status 404, error, 1 loss');
  });
});

describe('prettyPrint', () => {
  it('formats JSON, alone or in SSE data', () => {
    expect(prettyPrint('{"a":[1]}')).toEqual({ text: '{\n  "a": [\n    1\n  ]\n}', isJson: true });
    expect(prettyPrint('id: 7\ndata: {"a":1}\n\n')).toEqual({
      text: 'id: 7\ndata:\n{\n  "a": 1\n}',
      isJson: true,
    });
  });

  it('keeps other text unchanged', () => {
    for (const text of ['', 'hello', '{"a":', 'data: hello', '12']) {
      expect(prettyPrint(text)).toEqual({ text, isJson: false });
    }
  });
});

describe('diagram layout', () => {
  it('fills the width and keeps a minimum column width', () => {
    expect(columnWidth(900, 3, 150)).toBe(300);
    expect(columnWidth(900, 30, 150)).toBe(150);
    expect([columnX(0, 300), columnX(2, 300)]).toEqual([150, 750]);
  });

  it('renders visible columns only', () => {
    expect(visibleColumns(1_500, 900, 150, 100)).toEqual({ first: 9, end: 17 });
    expect(visibleColumns(0, 900, 150, 3)).toEqual({ first: 0, end: 3 });
  });

  it('draws arrows from sender to receiver', () => {
    expect(layoutArrow(150, 450)).toEqual({ left: 150, width: 300, direction: 'right' });
    expect(layoutArrow(450, 150)).toEqual({ left: 150, width: 300, direction: 'left' });
    expect(layoutArrow(150, 150).direction).toBe('self');
  });
});
