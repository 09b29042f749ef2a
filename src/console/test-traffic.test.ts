import { describe, expect, it } from 'vitest';
import { TrafficLog } from '../tap/traffic-log.ts';
import type { DecodedContent, TrafficRecord } from '../tap/traffic-record.ts';
import { TestTraffic } from './test-traffic.ts';

type NewRecord = Omit<TrafficRecord, 'sequence'>;

const record = (
  exchangeId: string,
  from: string,
  to: string,
  decoded: Partial<DecodedContent> = {},
): NewRecord => ({
  at: 0,
  exchangeId,
  kind: to === 'conformance' ? 'response' : 'request',
  from,
  to,
  text: '',
  decoded: { summary: '', ...decoded },
});

const send = (messageId: string): Partial<DecodedContent> => ({ model: { message: { messageId } } });

function recognized(log: TrafficLog, tests: TestTraffic): string[] {
  return log
    .recordsAfter()
    .filter((each) => tests.isTest(each))
    .map(({ exchangeId }) => exchangeId);
}

describe('TestTraffic', () => {
  it.each(['conformance', 'load'])('recognizes requests of %s and what a gateway makes of them', (client) => {
    const log = new TrafficLog();
    const tests = new TestTraffic(log);
    log.add(record('outer', client, 'gateway', send('m1')));
    log.add(record('inner', 'gateway', 'agent', send('m1')));
    log.add(record('user', 'console', 'gateway', send('m2')));
    expect(recognized(log, tests)).toEqual(['outer', 'inner']);
    expect(tests.recordCount).toBe(2);
  });

  it('recognizes tasks of tests, also those of records from before its creation', () => {
    const log = new TrafficLog();
    log.add(record('outer', 'gateway', 'conformance', { taskId: 't1' }));
    const tests = new TestTraffic(log);
    log.add(record('later', 'gateway', 'agent', { taskId: 't1' }));
    log.add(record('user', 'console', 'gateway', { taskId: 't2' }));
    tests.addTask('t3');
    expect(['t1', 't2', 't3'].map((id) => tests.isTestTask(id))).toEqual([true, false, true]);
    expect(recognized(log, tests)).toEqual(['outer', 'later']);
  });

  it('recognizes requests without IDs while their sender serves only tests', () => {
    const log = new TrafficLog();
    const tests = new TestTraffic(log);
    log.add(record('outer', 'conformance', 'gateway'));
    log.add(record('inner', 'gateway', 'agent'));
    log.add(record('user', 'console', 'gateway'));
    log.add(record('unclear', 'gateway', 'agent'));
    log.add({ ...record('user', 'gateway', 'console'), kind: 'response' });
    log.add(record('second', 'gateway', 'agent'));
    log.add({ ...record('outer', 'gateway', 'conformance'), kind: 'response' });
    log.add(record('later', 'gateway', 'agent'));
    expect([...new Set(recognized(log, tests))]).toEqual(['outer', 'inner', 'second']);
  });

  it('ends with the console', () => {
    const log = new TrafficLog();
    const tests = new TestTraffic(log);
    tests.close();
    log.add(record('outer', 'gateway', 'conformance', { taskId: 't1' }));
    expect(tests.hasTasks).toBe(false);
  });
});
