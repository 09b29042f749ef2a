import { expect, it } from 'vitest';
import { recordsIn } from '../../../test/support/tap/traffic-log.ts';
import { TrafficLog } from '../traffic-log.ts';
import { HttpExchangeRecorder } from './http-exchange-recorder.ts';
import { TrafficRecorder } from './traffic-recorder.ts';

it('records events without their content while too much waits for decoding', () => {
  const log = new TrafficLog();
  const recorder = new TrafficRecorder(log);
  const exchange = new HttpExchangeRecorder(
    recorder,
    { from: 'client', to: () => 'Sample' },
    { method: 'POST', url: 'http://localhost/message:stream', headers: {} },
  );
  recorder.decodeQueue.add(65 * 1_024 * 1_024, () => {});
  exchange.response(200, { 'content-type': 'text/event-stream' });
  exchange.frame('data: {"a":1}');
  exchange.end('complete');
  const records = recordsIn(log).map(({ kind, text, truncatedBy }) => ({ kind, text, truncatedBy }));
  expect(records.slice(2)).toEqual([
    { kind: 'frame', text: '', truncatedBy: 13 },
    { kind: 'end', text: 'The stream ended', truncatedBy: undefined },
  ]);
});
