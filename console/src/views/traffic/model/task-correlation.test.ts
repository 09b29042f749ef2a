import { expect, it } from 'vitest';
import type { TrafficRecord } from '../../../../../src/tap/traffic-record.ts';
import { TaskCorrelation } from './task-correlation.ts';

const record = (exchangeId: string, from: string, to: string, taskId?: string): TrafficRecord => ({
  sequence: 1,
  at: 0,
  exchangeId,
  kind: 'request',
  from,
  to,
  text: '',
  decoded: { summary: '', ...(taskId !== undefined && { taskId }) },
});

it.each(['conformance', 'load'])('recognizes requests of %s on both sides of a gateway', (client) => {
  const correlation = new TaskCorrelation();
  correlation.add(record('outer', client, 'gateway'));
  correlation.add(record('inner', 'gateway', 'agent', 't1'));
  expect([correlation.isTest('outer'), correlation.isTest('inner')]).toEqual([true, false]);
  correlation.add(record('outer', 'gateway', client, 't1'));
  correlation.add(record('other', 'browser', 'gateway', 't2'));
  expect(['outer', 'inner', 'other', 'unknown'].map((id) => correlation.isTest(id))).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
