import { expect, it } from 'vitest';
import { TestAgentServer } from '../../../src/testkit/test-agent-server.ts';
import { readSseFrames } from '../../support/http/sse-frames.ts';

const statusEvent = (state: string, text: string): object => ({
  kind: 'status-update',
  status: { state, message: { role: 'agent', parts: [{ kind: 'text', text }] } },
});

/** Two turns that only this conversation has. */
const turnsOf = (name: string): object[][] => [
  [statusEvent('working', `${name} begins`), statusEvent('input-required', `${name} asks`)],
  [statusEvent('working', `${name} goes on`), statusEvent('completed', `${name} ends`)],
];

async function stream(url: string, messageId: string, text: string, ids: object = {}): Promise<any[]> {
  const message = { kind: 'message', messageId, role: 'user', parts: [{ kind: 'text', text }], ...ids };
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: messageId, method: 'message/stream', params: { message } }),
  });
  return (await readSseFrames(response)).map(({ data }) => data.result);
}

const wordsOf = (events: any[]): string[] =>
  events.flatMap(({ kind, status }) => (kind === 'status-update' ? status.message.parts[0].text : []));

it('keeps 500 concurrent conversations separate', async () => {
  await using server = await TestAgentServer.start();
  const names = Array.from({ length: 500 }, (_, i) => `case-${i}`);
  const conversations = await Promise.all(
    names.map(async (name) => {
      const json = Buffer.from(JSON.stringify(turnsOf(name))).toString('base64');
      const first = await stream(server.url, `${name}-0`, `[test_case_id=${name}][responses_json=${json}]`);
      const { id: taskId, contextId } = first[0] as { id: string; contextId: string };
      const second = await stream(server.url, `${name}-1`, `[test_case_id=${name}]`, { taskId, contextId });
      return { name, taskId, contextId, words: [wordsOf(first), wordsOf(second)] };
    }),
  );
  for (const { name, words } of conversations) {
    expect(words).toEqual([
      [`${name} begins`, `${name} asks`],
      [`${name} goes on`, `${name} ends`],
    ]);
  }
  expect(new Set(conversations.map(({ taskId }) => taskId)).size).toBe(500);
  const captured = new Map(
    server.receivedMessages.map(({ call, origin }) => [call?.messageId, { call, origin }]),
  );
  expect(captured.size).toBe(1_000);
  for (const { name, taskId, contextId } of conversations) {
    for (const turn of [0, 1]) {
      const { call, origin } = captured.get(`${name}-${turn}`) ?? {};
      expect([call?.taskId, call?.contextId, origin]).toEqual([
        taskId,
        contextId,
        `directive ${name}, turn ${turn}`,
      ]);
    }
  }
});

it('keeps 500 concurrent conversations with one script separate', async () => {
  const script = `
rules:
  - name: asks
    when: { text: { regex: '^I am (?<name>.+)$' }, task_state: none }
    then: [{ set: { name: '{{match.name}}' } }, { say: '{{state.name}} begins' }, { ask: '{{state.name}} asks' }]
  - name: ends
    when: { text: and now, task_state: input-required, turn: 1 }
    then: [{ say: '{{state.name}} goes on' }, { complete: '{{state.name}} ends in {{task.id}}' }]`;
  await using server = await TestAgentServer.start({ script });
  const names = Array.from({ length: 500 }, (_, i) => `case-${i}`);
  const conversations = await Promise.all(
    names.map(async (name) => {
      const first = await stream(server.url, `${name}-0`, `I am ${name}`);
      const { id: taskId, contextId } = first[0] as { id: string; contextId: string };
      const second = await stream(server.url, `${name}-1`, 'and now', { taskId, contextId });
      return { name, taskId, contextId, words: [wordsOf(first), wordsOf(second)] };
    }),
  );
  for (const { name, taskId, words } of conversations) {
    expect(words).toEqual([
      [`${name} begins`, `${name} asks`],
      [`${name} goes on`, `${name} ends in ${taskId}`],
    ]);
  }
  expect(new Set(conversations.map(({ contextId }) => contextId)).size).toBe(500);
  const captured = new Map(server.receivedMessages.map(({ call }) => [call?.messageId, call]));
  expect(captured.size).toBe(1_000);
  for (const { name, taskId, contextId } of conversations)
    for (const turn of [0, 1]) expect(captured.get(`${name}-${turn}`)).toMatchObject({ taskId, contextId });
  expect(server.scripts[0]?.script.rules.map(({ matches }) => matches)).toEqual([500, 500]);
});
