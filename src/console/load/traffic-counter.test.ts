import { describe, expect, it } from 'vitest';
import { TrafficLog } from '../../tap/traffic-log.ts';
import type { TrafficRecord } from '../../tap/traffic-record.ts';
import { TrafficCounter } from './traffic-counter.ts';

type NewRecord = Omit<TrafficRecord, 'sequence'>;

let exchanges = 0;

/** Records a request and its response; `events` adds a stream that stays open. */
function exchange(agent: string, { elapsed = 5, status = 200, events = 0 } = {}): NewRecord[] {
  const exchangeId = `e${++exchanges}`;
  const reply = { at: 0, exchangeId, from: agent, to: 'client', text: '', elapsed };
  const http = { method: 'POST', url: 'http://localhost/', headers: {} };
  return [
    { at: 0, exchangeId, kind: 'request', from: 'client', to: agent, text: '', http },
    { ...reply, kind: 'response', http: { ...http, status } },
    ...Array.from({ length: events }, () => ({ ...reply, kind: 'frame' as const })),
  ];
}

function recording(...before: NewRecord[]): { add: (records: NewRecord[]) => void; counter: TrafficCounter } {
  const log = new TrafficLog();
  const add = (records: NewRecord[]): void => {
    for (const each of records) log.add(each);
  };
  add(before);
  return { add, counter: new TrafficCounter(log) };
}

describe('TrafficCounter', () => {
  it('counts the load of each agent and of all', () => {
    const { add, counter } = recording();
    add([...exchange('a', { elapsed: 10 }), ...exchange('a', { elapsed: 20, status: 500 })]);
    add(exchange('b', { elapsed: 30, events: 2 }));
    const { all, agents } = counter.sample();
    expect(all).toMatchObject({ requests: 3, errors: 1, events: 2, openStreams: 1, latency: { max: 30 } });
    expect(agents.get('a')).toMatchObject({ requests: 2, errors: 1, events: 0, openStreams: 0 });
    expect(agents.get('b')).toMatchObject({ requests: 1, errors: 0, events: 2, openStreams: 1 });
    expect(agents.get('b')?.latency).toEqual({ p50: 30, p90: 30, p99: 30, max: 30 });
    expect(agents.has('client')).toBe(false);
  });

  it('starts anew after each sample, except for open streams', () => {
    const { add, counter } = recording();
    add(exchange('a', { events: 1 }));
    counter.sample();
    const { all, agents } = counter.sample();
    expect(all).toEqual({ requests: 0, errors: 0, events: 0, openStreams: 1 });
    expect(agents.get('a')).toEqual(all);
  });

  it('knows the agents and open streams of earlier records without counting them', () => {
    const { counter } = recording(...exchange('a', { events: 1 }));
    const { all, agents } = counter.sample();
    expect(all).toEqual({ requests: 0, errors: 0, events: 0, openStreams: 1 });
    expect([...agents.keys()]).toEqual(['a']);
  });

  it('counts at most 64 agents separately', () => {
    const { add, counter } = recording();
    for (let at = 0; at < 70; at++) add(exchange(`agent ${at}`));
    const { all, agents } = counter.sample();
    expect([all.requests, agents.size]).toEqual([70, 64]);
  });

  it('leaves out records that are not counted', () => {
    const log = new TrafficLog();
    const counter = new TrafficCounter(log, ({ to, from }) => to !== 'tested' && from !== 'tested');
    for (const each of [...exchange('tested', { events: 3 }), ...exchange('a')]) log.add(each);
    const { all, agents } = counter.sample();
    expect(all).toMatchObject({ requests: 1, events: 0, openStreams: 0 });
    expect([...agents.keys()]).toEqual(['a']);
  });
});
