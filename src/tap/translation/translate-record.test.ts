import { expect, it } from 'vitest';
import type { TrafficRecord } from '../traffic-record.ts';
import { translateRecord } from './translate-record.ts';

const record = (more: Partial<TrafficRecord>): TrafficRecord => ({
  sequence: 1,
  at: 0,
  exchangeId: 'x',
  kind: 'request',
  from: 'client',
  to: 'agent',
  text: '',
  ...more,
});
const request = record({
  text: '{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"hi"}]}}}',
  decoded: {
    version: '0.3',
    operation: 'send',
    summary: 'send: hi',
    model: { message: { messageId: 'm', role: 'user', parts: [{ text: 'hi' }] } },
  },
});

it('translates a request, and removes the envelope', () => {
  expect(translateRecord(request, '1.0')).toMatchObject({
    original: { message: { kind: 'message', role: 'user' } },
    translation: { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }] } },
  });
});

it('lists what the other version cannot represent', () => {
  const { translation, losses } = translateRecord(request, '0.1') ?? {};
  expect(translation).toMatchObject({ message: { role: 'user', parts: [{ type: 'text', text: 'hi' }] } });
  expect(losses?.map(({ path }) => path)).toContain('message.messageId');
});

it('translates an event of a stream', () => {
  const event = record({
    kind: 'frame',
    text: 'id: 2\ndata: {"jsonrpc":"2.0","id":1,"result":{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}}',
    decoded: {
      version: '1.0',
      operation: 'stream',
      summary: 'status working',
      model: { kind: 'status', taskId: 't', contextId: 'c', status: { state: 'working' } },
    },
  });
  expect(translateRecord(event, '0.3')?.translation).toMatchObject({
    kind: 'status-update',
    taskId: 't',
    status: { state: 'working' },
  });
});

it.each([
  [
    'is in this version',
    { ...request, decoded: { ...request.decoded, version: '1.0', summary: '' } as const },
  ],
  ['was not decoded', record({ text: '{}' })],
  ['is not complete', { ...request, text: '{"jsonrpc":' }],
  ['is an error', { ...request, decoded: { ...request.decoded, isError: true, summary: '' } as const }],
])('returns nothing for a message that %s', (_, each) => {
  expect(translateRecord(each, '1.0')).toBeUndefined();
});
