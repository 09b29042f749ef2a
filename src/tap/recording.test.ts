import { describe, expect, it } from 'vitest';
import type { TrafficRecord } from './traffic-record.ts';
import { readRecording } from './recording.ts';

const model = { message: { messageId: 'm', role: 'user', parts: [{ text: 'hi' }] } };

let exchanges = 0;

/** Creates the records of an exchange. */
function exchange(from: string, to: string, answer: Partial<TrafficRecord> = {}): TrafficRecord[] {
  const exchangeId = `e${++exchanges}`;
  const common = { sequence: 1, at: 1, exchangeId, text: '{}' };
  const decoded = { operation: 'send' as const, summary: 'send: hi' };
  const http = { method: 'POST', url: 'http://agent.example/', headers: {} };
  return [
    { ...common, kind: 'request', from, to, http, decoded: { ...decoded, model } },
    {
      ...common,
      kind: 'response',
      from: to,
      to: from,
      decoded: { ...decoded, model: model.message },
      ...answer,
    },
  ];
}

describe('readRecording', () => {
  it('reads the requests of clients, not those of intermediaries', () => {
    const { exchanges: all, card } = readRecording([
      ...exchange('client', 'Gateway'),
      ...exchange('Gateway', 'Echo'),
    ]);
    expect(all).toMatchObject([{ number: 1, operation: 'send', answer: { result: model.message } }]);
    expect(card).toMatchObject({ name: 'Gateway', capabilities: { streaming: false } });
  });

  it('takes the host and the later name of an agent for one agent', () => {
    const records = [...exchange('client', 'agent.example'), ...exchange('client', 'Echo')];
    expect(readRecording(records).exchanges).toHaveLength(2);
  });

  it('asks for a name if several agents were recorded', () => {
    const records = [...exchange('client', 'A'), ...exchange('client', 'B')];
    expect(() => readRecording(records)).toThrow('Several agents were recorded: A, B');
    expect(readRecording(records, { agent: 'B' }).exchanges).toHaveLength(1);
    expect(() => readRecording(records, { agent: 'C' })).toThrow('No request to the agent "C" was recorded');
    expect(() => readRecording([])).toThrow('No request to an agent was recorded');
  });

  it('leaves out what is incomplete, with the reason', () => {
    const { leftOut, exchanges: all } = readRecording([
      ...exchange('client', 'A', { truncatedBy: 5 }),
      ...exchange('client', 'A').slice(0, 1),
      ...exchange('client', 'A', { decoded: { summary: 'HTTP 502', isError: true } }),
    ]);
    expect(all).toEqual([]);
    expect(leftOut).toEqual([
      'send: hi: a part of the answer is too large and was not recorded',
      'send: hi: no answer was recorded',
      'send: hi: the answer could not be decoded (HTTP 502)',
    ]);
  });
});
