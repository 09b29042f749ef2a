import { describe, expect, it } from 'vitest';
import type { DecodedContent, TrafficRecord } from '../../../../../src/tap/traffic-record.ts';
import { findCounterpart } from '../find-counterpart.ts';
import { RingBuffer } from './ring-buffer.ts';
import { TrafficTimeline } from './traffic-timeline.ts';

let sequence = 0;

function seen(
  draft: Partial<Omit<TrafficRecord, 'decoded'>> & { decoded?: Partial<DecodedContent> } = {},
): TrafficRecord {
  const { decoded, ...rest } = draft;
  return {
    sequence: ++sequence,
    at: sequence,
    exchangeId: 't1',
    kind: 'request',
    from: 'caller',
    to: 'gateway',
    text: '{}',
    ...rest,
    ...(decoded ? { decoded: { summary: 'send', ...decoded } } : {}),
  };
}

describe('RingBuffer', () => {
  it('retains the newest items and returns evicted ones', () => {
    const roll = new RingBuffer<number>({ maxItems: 3 });
    const evictedCount = [1, 2, 3, 4, 5].flatMap((each) => roll.push(each));
    expect([roll.slice(), evictedCount]).toEqual([
      [3, 4, 5],
      [1, 2],
    ]);
    expect([roll.at(0), roll.at(2), roll.at(3), roll.at(-1)]).toEqual([3, 5, undefined, undefined]);
  });

  it('limits the total weight but always retains the newest item', () => {
    const roll = new RingBuffer<string>({ maxWeight: 5, weigh: ({ length }) => length });
    roll.push('abc');
    expect(roll.push('def')).toEqual(['abc']);
    expect(roll.push('a long one')).toEqual(['def']);
    expect(roll.slice()).toEqual(['a long one']);
  });

  it('stays consistent when emptied from the front', () => {
    const roll = new RingBuffer<number>();
    for (let each = 0; each < 10; each++) roll.push(each);
    for (let each = 0; each < 10; each++) expect(roll.shift()).toBe(each);
    expect([roll.length, roll.shift()]).toEqual([0, undefined]);
  });
});

describe('TrafficTimeline', () => {
  it('evicts the oldest records with their rows and participants', () => {
    const timeline = new TrafficTimeline({ maxRecords: 2 });
    timeline.add([seen({ from: 'alice' }), seen(), seen()]);
    expect([timeline.length, timeline.shown.length, timeline.evictedCount]).toEqual([2, 2, 1]);
    expect(timeline.participants.names).toEqual(['caller', 'gateway']);
  });

  it('orders participants by appearance, clients before servers', () => {
    const timeline = new TrafficTimeline();
    timeline.add([
      seen({ from: 'gateway', to: 'agent' }),
      seen({ kind: 'response', from: 'agent', to: 'gateway' }),
      seen({ from: 'caller', to: 'gateway' }),
      seen({ kind: 'message', from: 'gateway', to: 'mesh' }),
    ]);
    expect(timeline.participants.names).toEqual(['caller', 'gateway', 'agent', 'mesh']);
    expect(['caller', 'mesh'].map((each) => timeline.participants.columnOf(each))).toEqual([0, 3]);
  });

  it('keeps the order of participants when others are hidden', () => {
    const timeline = new TrafficTimeline();
    timeline.add([seen({ from: 'gateway', to: 'agent' }), seen({ from: 'caller', to: 'gateway' })]);
    timeline.filter({ participant: 'agent' });
    expect(timeline.participants.names).toEqual(['gateway', 'agent']);
    timeline.filter({});
    expect(timeline.participants.names).toEqual(['caller', 'gateway', 'agent']);
  });

  it('finds records and rows by sequence number, with gaps', () => {
    const timeline = new TrafficTimeline();
    const all = Array.from({ length: 9 }, () => {
      sequence++;
      return seen();
    });
    timeline.add(all);
    for (const [index, each] of all.entries()) {
      expect(timeline.rowOf(each.sequence)).toBe(index);
      expect(timeline.find(each.sequence)).toBe(each);
      expect(timeline.rowOf(each.sequence - 1)).toBe(-1);
    }
  });

  it('shows complete exchanges of a task, including its first request', () => {
    const timeline = new TrafficTimeline();
    timeline.filter({ task: 'task-1' });
    const request = seen({ exchangeId: 'a' });
    timeline.add([request, seen({ exchangeId: 'b' })]);
    expect(timeline.shown.length).toBe(0);
    const answer = seen({ exchangeId: 'a', kind: 'response', decoded: { taskId: 'task-1' } });
    timeline.add([answer]);
    expect(timeline.shown.slice()).toEqual([request, answer]);
  });

  it('removes a task with its last record', () => {
    const timeline = new TrafficTimeline({ maxRecords: 1 });
    timeline.add([seen({ exchangeId: 'a', decoded: { taskId: 'task-1' } })]);
    expect(timeline.correlation.taskOf('a')).toBe('task-1');
    timeline.add([seen({ exchangeId: 'b' })]);
    expect(timeline.correlation.taskOf('a')).toBeUndefined();
    expect(timeline.correlation.hueOf('a', 6)).toBeUndefined();
  });

  it('assigns one color per task', () => {
    const timeline = new TrafficTimeline();
    timeline.add([
      seen({ exchangeId: 'a', decoded: { taskId: 'task-1' } }),
      seen({ exchangeId: 'b', decoded: { taskId: 'task-1' } }),
      seen({ exchangeId: 'c', decoded: { taskId: 'task-2' } }),
    ]);
    const [a, b, c] = ['a', 'b', 'c'].map((each) => timeline.correlation.hueOf(each, 6));
    expect([a === b, a === c]).toEqual([true, false]);
  });

  it('is empty after clear and accepts new records', () => {
    const timeline = new TrafficTimeline();
    timeline.add([seen()]);
    timeline.clear();
    expect([timeline.length, timeline.shown.length, timeline.participants.names]).toEqual([0, 0, []]);
    timeline.add([seen()]);
    expect(timeline.shown.length).toBe(1);
  });
});

describe('traffic filter', () => {
  const losses = [{ path: 'metadata', kind: 'dropped' as const, note: 'no such member' }];
  const findings = [{ rule: 'first-event' as const, level: 'error' as const, index: 0, message: 'no' }];
  const plain = seen({ text: '{"text":"Grüße (1+1)"}' });
  const refused = seen({
    kind: 'response',
    http: { method: 'POST', url: 'http://a/', status: 404, headers: {} },
  });
  const failed = seen({ kind: 'response', decoded: { isError: true, version: '0.3' } });
  const lossy = seen({ kind: 'frame', decoded: { losses, version: '0.1' } });
  const wrong = seen({ kind: 'frame', decoded: { findings }, from: 'agent' });
  const lost = seen({ kind: 'loss' });

  const shownBy = (filter: Parameters<TrafficTimeline['filter']>[0]): TrafficRecord[] => {
    const timeline = new TrafficTimeline();
    timeline.add([plain, refused, failed, lossy, wrong, lost]);
    timeline.filter(filter);
    return timeline.shown.slice();
  };

  it('matches everything when empty', () => {
    expect(
      shownBy({ text: '', participant: '', version: '', kind: '', marks: new Set(), task: '', exchange: '' }),
    ).toHaveLength(6);
  });

  it('matches literal text, ignoring case', () => {
    expect(shownBy({ text: 'GRÜSSE' })).toEqual([]);
    expect(shownBy({ text: 'grüße (1+1)' })).toEqual([plain]);
    expect(shownBy({ text: 'a/' })).toEqual([refused]);
  });

  it('matches participant, version and kind', () => {
    expect(shownBy({ participant: 'agent' })).toEqual([wrong]);
    expect(shownBy({ version: '0.3' })).toEqual([failed]);
    expect(shownBy({ kind: 'frame', version: '0.1' })).toEqual([lossy]);
  });

  it('hides card requests and health checks', () => {
    const timeline = new TrafficTimeline();
    const asked = seen({ decoded: { operation: 'card' } });
    timeline.add([asked, plain]);
    const http = { method: 'GET', url: 'http://127.0.0.1:4000/healthz', headers: {} };
    const looked = seen({ http });
    timeline.add([looked]);
    timeline.filter({ isWithoutCards: true });
    expect(timeline.shown.slice()).toEqual([plain]);
    expect([timeline.length, timeline.housekeeping]).toEqual([3, 2]);
    // An exchange filter includes them.
    timeline.filter({ isWithoutCards: true, exchange: looked.exchangeId });
    expect(timeline.shown.slice()).toContain(looked);
    timeline.clear();
    expect(timeline.housekeeping).toBe(0);
  });

  it('matches records with an error, a loss or a finding', () => {
    expect(shownBy({ marks: new Set(['errors']) })).toEqual([refused, failed]);
    expect(shownBy({ marks: new Set(['losses']) })).toEqual([lossy, lost]);
    expect(shownBy({ marks: new Set(['losses', 'findings']) })).toEqual([lossy, wrong, lost]);
  });
});

describe('findCounterpart', () => {
  it('returns the record with the same content on the other side of the gateway', () => {
    const timeline = new TrafficTimeline();
    const about = { taskId: 'task-1', summary: 'status working' };
    const asked = seen({ exchangeId: 'out' });
    const passedOn = seen({ exchangeId: 'in', from: 'gateway', to: 'agent' });
    const first = seen({
      exchangeId: 'in',
      kind: 'frame',
      from: 'agent',
      to: 'gateway',
      decoded: { ...about, summary: 'task' },
    });
    const upstream = seen({ exchangeId: 'in', kind: 'frame', from: 'agent', to: 'gateway', decoded: about });
    const other = seen({
      exchangeId: 'x',
      kind: 'frame',
      from: 'agent',
      to: 'gateway',
      decoded: { ...about, taskId: 'task-2' },
    });
    const shown = seen({ exchangeId: 'out', kind: 'frame', from: 'gateway', to: 'caller', decoded: about });
    timeline.add([asked, passedOn, first, upstream, other, shown]);
    expect(findCounterpart(shown, timeline)).toBe(upstream);
    expect(findCounterpart(upstream, timeline)).toBe(shown);
    expect(findCounterpart(asked, timeline)).toBe(passedOn);
    expect(findCounterpart(other, timeline)).toBeUndefined();
  });
});
