import { describe, expect, it } from 'vitest';
import { vandalize } from '../../test/support/vandalize.ts';
import { TrafficLog } from './traffic-log.ts';
import type { TrafficRecord } from './traffic-record.ts';

const draft: Omit<TrafficRecord, 'sequence'> = {
  at: 0,
  exchangeId: 'x',
  kind: 'request',
  from: 'client',
  to: 'agent',
  text: '{}',
  http: { method: 'POST', url: 'http://a.example/', headers: { accept: '*/*' } },
  decoded: { summary: 'send', model: { message: { parts: [{ text: 'hi' }] } } },
};

describe('TrafficLog', () => {
  it('keeps its records unchanged when a reader modifies them', () => {
    const log = new TrafficLog();
    log.subscribe(vandalize);
    vandalize(log.add(structuredClone(draft)));
    vandalize(log.recordsAfter(0));
    expect(log.recordsAfter(0)).toEqual([{ ...draft, sequence: 1 }]);
  });
});
