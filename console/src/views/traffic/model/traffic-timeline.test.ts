import { describe, expect, it } from 'vitest';
import type { DecodedContent, TrafficRecord } from '../../../../../src/tap/traffic-record.ts';
import { findCounterpart } from '../find-counterpart.ts';
import { RingBuffer } from './ring-buffer.ts';
import { TrafficTimeline } from './traffic-timeline.ts';

let sequence = 0;

function seen(
  draft: Partial<Omit<TrafficRecord, 'meaning'>> & { meaning?: Partial<DecodedContent> } = {},
): TrafficRecord {
  const { meaning, ...rest } = draft;
  return {
    sequence: ++sequence,
    at: sequence,
    exchangeId: 't1',
    kind: 'request',
    from: 'caller',
    to: 'gateway',
    text: '{}',
    ...rest,
    ...(meaning ? { decoded: { summary: 'send', ...meaning } } : {}),
  };
}

describe('a roll', () => {
  it('keeps the newest items and gives back what it forgot', () => {
    const roll = new RingBuffer<number>({ maxItems: 3 });
    const forgotten = [1, 2, 3, 4, 5].flatMap((each) => roll.push(each));
    expect([roll.slice(), forgotten]).toEqual([
      [3, 4, 5],
      [1, 2],
    ]);
    expect([roll.at(0), roll.at(2), roll.at(3), roll.at(-1)]).toEqual([3, 5, undefined, undefined]);
  });

  it('keeps no more than a weight, but always the newest item', () => {
    const roll = new RingBuffer<string>({ maxWeight: 5, weigh: ({ length }) => length });
    roll.push('abc');
    expect(roll.push('def')).toEqual(['abc']);
    expect(roll.push('a long one')).toEqual(['def']);
    expect(roll.slice()).toEqual(['a long one']);
  });

  it('stays right when it is emptied from the front', () => {
    const roll = new RingBuffer<number>();
    for (let each = 0; each < 10; each++) roll.push(each);
    for (let each = 0; each < 10; each++) expect(roll.shift()).toBe(each);
    expect([roll.length, roll.shift()]).toEqual([0, undefined]);
  });
});

describe('a timeline', () => {
  it('forgets the oldest passages, their rows and their parties', () => {
    const timeline = new TrafficTimeline({ maxPassages: 2 });
    timeline.add([seen({ from: 'alice' }), seen(), seen()]);
    expect([timeline.length, timeline.shown.length, timeline.forgotten]).toEqual([2, 2, 1]);
    expect(timeline.parties.names).toEqual(['caller', 'gateway']);
  });

  it('gives the parties columns in the order in which they were first seen, callers before those they call', () => {
    const timeline = new TrafficTimeline();
    timeline.add([
      seen({ from: 'gateway', to: 'agent' }),
      seen({ kind: 'response', from: 'agent', to: 'gateway' }),
      seen({ from: 'caller', to: 'gateway' }),
      seen({ kind: 'message', from: 'gateway', to: 'mesh' }),
    ]);
    expect(timeline.parties.names).toEqual(['caller', 'gateway', 'agent', 'mesh']);
    expect(['caller', 'mesh'].map((each) => timeline.parties.columnOf(each))).toEqual([0, 3]);
  });

  it('keeps the order of the parties that are left when others are hidden', () => {
    const timeline = new TrafficTimeline();
    timeline.add([seen({ from: 'gateway', to: 'agent' }), seen({ from: 'caller', to: 'gateway' })]);
    timeline.filter({ party: 'agent' });
    expect(timeline.parties.names).toEqual(['gateway', 'agent']);
    timeline.filter({});
    expect(timeline.parties.names).toEqual(['caller', 'gateway', 'agent']);
  });

  it('finds passages and rows by their number, also where numbers are missing', () => {
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

  it('shows of a task the whole of its trips, also what came before the task had a name', () => {
    const timeline = new TrafficTimeline();
    timeline.filter({ task: 'task-1' });
    const request = seen({ exchangeId: 'a' });
    timeline.add([request, seen({ exchangeId: 'b' })]);
    expect(timeline.shown.length).toBe(0);
    const answer = seen({ exchangeId: 'a', kind: 'response', meaning: { taskId: 'task-1' } });
    timeline.add([answer]);
    expect(timeline.shown.slice()).toEqual([request, answer]);
  });

  it('forgets what it knew of a task with the last passage of its trips', () => {
    const timeline = new TrafficTimeline({ maxPassages: 1 });
    timeline.add([seen({ exchangeId: 'a', meaning: { taskId: 'task-1' } })]);
    expect(timeline.threads.taskOf('a')).toBe('task-1');
    timeline.add([seen({ exchangeId: 'b' })]);
    expect(timeline.threads.taskOf('a')).toBeUndefined();
    expect(timeline.threads.hueOf('a', 6)).toBeUndefined();
  });

  it('gives the trips of one task one colour, and the next task another', () => {
    const timeline = new TrafficTimeline();
    timeline.add([
      seen({ exchangeId: 'a', meaning: { taskId: 'task-1' } }),
      seen({ exchangeId: 'b', meaning: { taskId: 'task-1' } }),
      seen({ exchangeId: 'c', meaning: { taskId: 'task-2' } }),
    ]);
    const [a, b, c] = ['a', 'b', 'c'].map((each) => timeline.threads.hueOf(each, 6));
    expect([a === b, a === c]).toEqual([true, false]);
  });

  it('is empty after it was cleared, and goes on', () => {
    const timeline = new TrafficTimeline();
    timeline.add([seen()]);
    timeline.clear();
    expect([timeline.length, timeline.shown.length, timeline.parties.names]).toEqual([0, 0, []]);
    timeline.add([seen()]);
    expect(timeline.shown.length).toBe(1);
  });
});

describe('a filter', () => {
  const losses = [{ path: 'metadata', kind: 'dropped' as const, note: 'no such member' }];
  const findings = [{ rule: 'first-event' as const, level: 'error' as const, index: 0, message: 'no' }];
  const plain = seen({ text: '{"text":"Grüße (1+1)"}' });
  const refused = seen({
    kind: 'response',
    http: { method: 'POST', url: 'http://a/', status: 404, headers: {} },
  });
  const failed = seen({ kind: 'response', meaning: { isError: true, version: '0.3' } });
  const lossy = seen({ kind: 'frame', meaning: { losses, version: '0.1' } });
  const wrong = seen({ kind: 'frame', meaning: { findings }, from: 'agent' });
  const lost = seen({ kind: 'loss' });

  const shownBy = (filter: Parameters<TrafficTimeline['filter']>[0]): TrafficRecord[] => {
    const timeline = new TrafficTimeline();
    timeline.add([plain, refused, failed, lossy, wrong, lost]);
    timeline.filter(filter);
    return timeline.shown.slice();
  };

  it('lets everything through when it asks for nothing', () => {
    expect(
      shownBy({ text: '', party: '', version: '', kind: '', marks: new Set(), task: '', trip: '' }),
    ).toHaveLength(6);
  });

  it('looks for text as it is, whatever its case', () => {
    expect(shownBy({ text: 'GRÜSSE' })).toEqual([]);
    expect(shownBy({ text: 'grüße (1+1)' })).toEqual([plain]);
    expect(shownBy({ text: 'a/' })).toEqual([refused]);
  });

  it('looks for a party, a version and a kind', () => {
    expect(shownBy({ party: 'agent' })).toEqual([wrong]);
    expect(shownBy({ version: '0.3' })).toEqual([failed]);
    expect(shownBy({ kind: 'frame', version: '0.1' })).toEqual([lossy]);
  });

  it('leaves out cards, which pass all the time', () => {
    const timeline = new TrafficTimeline();
    const asked = seen({ meaning: { operation: 'card' } });
    timeline.add([asked, plain]);
    const http = { method: 'GET', url: 'http://127.0.0.1:4000/healthz', headers: {} };
    const looked = seen({ http });
    timeline.add([looked]);
    timeline.filter({ isWithoutCards: true });
    expect(timeline.shown.slice()).toEqual([plain]);
    expect([timeline.length, timeline.housekeeping]).toEqual([3, 2]);
    // An exchange filter includes them.
    timeline.filter({ isWithoutCards: true, trip: looked.exchangeId });
    expect(timeline.shown.slice()).toContain(looked);
    timeline.clear();
    expect(timeline.housekeeping).toBe(0);
  });

  it('looks for errors, losses and findings, one or the other', () => {
    expect(shownBy({ marks: new Set(['errors']) })).toEqual([refused, failed]);
    expect(shownBy({ marks: new Set(['losses']) })).toEqual([lossy, lost]);
    expect(shownBy({ marks: new Set(['losses', 'findings']) })).toEqual([lossy, wrong, lost]);
  });
});

describe('the other side', () => {
  it('is the passage of the same task that means the same beyond the gateway', () => {
    const timeline = new TrafficTimeline();
    const about = { taskId: 'task-1', gist: 'status working' };
    const asked = seen({ exchangeId: 'out' });
    const passedOn = seen({ exchangeId: 'in', from: 'gateway', to: 'agent' });
    const first = seen({
      exchangeId: 'in',
      kind: 'frame',
      from: 'agent',
      to: 'gateway',
      meaning: { ...about, summary: 'task' },
    });
    const upstream = seen({ exchangeId: 'in', kind: 'frame', from: 'agent', to: 'gateway', meaning: about });
    const other = seen({
      exchangeId: 'x',
      kind: 'frame',
      from: 'agent',
      to: 'gateway',
      meaning: { ...about, taskId: 'task-2' },
    });
    const shown = seen({ exchangeId: 'out', kind: 'frame', from: 'gateway', to: 'caller', meaning: about });
    timeline.add([asked, passedOn, first, upstream, other, shown]);
    expect(findCounterpart(shown, timeline)).toBe(upstream);
    expect(findCounterpart(upstream, timeline)).toBe(shown);
    expect(findCounterpart(asked, timeline)).toBe(passedOn);
    expect(findCounterpart(other, timeline)).toBeUndefined();
  });
});
