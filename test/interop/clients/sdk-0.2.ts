import { A2AClient } from 'sdk-0.2/client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { collectStream } from '../../support/collect-stream.ts';
import { responseSchemas0_3, SchemaCheckingFetch } from '../../support/interop/schema-checking-fetch.ts';
import type { InteropTarget, ServedAgent } from '../targets/interop-target.ts';

/** Creates a 0.2 message. */
function say(text: string, more: object = {}): any {
  const message = { kind: 'message', messageId: crypto.randomUUID(), role: 'user' };
  return { message: { ...message, parts: [{ kind: 'text', text }], ...more } };
}

/** Declares the tests of the official 0.2 client. */
export function testSdk0_2(target: InteropTarget): void {
  describe(`official 0.2 client, ${target.name}`, () => {
    let server: ServedAgent;
    let client: A2AClient;
    const watch = new SchemaCheckingFetch('a2a-v0.2.6.schema.json', responseSchemas0_3);

    beforeAll(async () => {
      // This client takes the fetch of the machine and no other.
      vi.spyOn(globalThis, 'fetch').mockImplementation(watch.fetch);
      server = await target.serve();
      client = new A2AClient(server.url);
    });
    afterAll(async () => {
      vi.restoreAllMocks();
      await server.stop();
    });

    /** The result of an answer, which must not be an error. */
    function resultOf(answer: any): any {
      expect(answer).toMatchObject({ jsonrpc: '2.0', result: expect.anything() });
      expect(answer).not.toHaveProperty('error');
      return answer.result;
    }

    it('fetches the card from /.well-known/agent.json', async () => {
      const card = await client.getAgentCard();
      expect(card).toMatchObject({
        name: 'Sample',
        description: 'Does what the word says',
        version: '1.2.3',
        url: server.url,
        capabilities: { streaming: true, pushNotifications: true },
        defaultInputModes: ['text/plain', '*/*'],
        defaultOutputModes: ['text/plain'],
        skills: [{ id: 'echo', name: 'Echo', description: 'Says it back', tags: ['test'] }],
      });
    });

    it('receives a completed task for a message', async () => {
      const params = say('hello', { metadata: { from: 'a test' } });
      const task = resultOf(await client.sendMessage(params));
      expect(task).toEqual({
        kind: 'task',
        id: expect.any(String),
        contextId: expect.any(String),
        status: { state: 'completed', timestamp: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/) },
        artifacts: [{ artifactId: 'answer', name: 'answer', parts: [{ kind: 'text', text: 'hello' }] }],
        history: [{ ...params.message, taskId: task.id, contextId: task.contextId }],
      });
    });

    it('receives files and data unchanged', async () => {
      const parts = [
        { kind: 'file', file: { name: 'a.bin', mimeType: 'application/octet-stream', bytes: 'AAE=' } },
        { kind: 'file', file: { name: 'b.txt', mimeType: 'text/plain', uri: 'https://files.test/b.txt' } },
        { kind: 'data', data: { deep: [1, { two: null }] }, metadata: { note: 'kept' } },
      ];
      const task = resultOf(await client.sendMessage(say('', { parts })));
      expect(task.artifacts[0].parts).toEqual(parts);
      expect(task.history[0].parts).toEqual(parts);
    });

    it('streams the task, its chunks and the final status', async () => {
      const events = await collectStream<any>(client.sendMessageStream(say('stream')));
      const { id: taskId, contextId } = events[0];
      expect(events[0]).toMatchObject({ kind: 'task', status: { state: 'submitted' } });
      expect(events[1]).toMatchObject({ kind: 'status-update', status: { state: 'working' }, final: false });
      expect(events.slice(2, 7)).toEqual(
        [0, 1, 2, 3, 4].map((i) => ({
          kind: 'artifact-update',
          taskId,
          contextId,
          artifact: { artifactId: 'answer', name: 'answer', parts: [{ kind: 'text', text: `${i}` }] },
          append: i > 0,
          lastChunk: i === 4,
        })),
      );
      expect(events.slice(7)).toMatchObject([
        { kind: 'status-update', taskId, contextId, status: { state: 'completed' }, final: true },
      ]);
    });

    it('gets a task with the requested history length', async () => {
      const { id } = resultOf(await client.sendMessage(say('hello')));
      const task = resultOf(await client.getTask({ id }));
      expect(task).toMatchObject({ kind: 'task', id, history: [{ role: 'user' }] });
      expect(resultOf(await client.getTask({ id, historyLength: 1 })).history).toHaveLength(1);
    });

    it('replies to a question and continues the task', async () => {
      const interrupted = resultOf(await client.sendMessage(say('ask')));
      expect(interrupted.status).toMatchObject({
        state: 'input-required',
        message: { kind: 'message', role: 'agent', parts: [{ kind: 'text', text: 'Which one?' }] },
      });
      const { id: taskId, contextId } = interrupted;
      const done = resultOf(await client.sendMessage(say('that one', { taskId, contextId })));
      expect(done).toMatchObject({ id: taskId, contextId, status: { state: 'completed' } });
      expect(done.artifacts[0].parts).toEqual([{ kind: 'text', text: 'that one' }]);
      expect(done.history.map(({ role }: any) => role)).toEqual(['user', 'agent', 'user']);
    });

    it('receives the end of the stream at input-required', async () => {
      const events = await collectStream<any>(client.sendMessageStream(say('ask')));
      expect(events.at(-1)).toMatchObject({ status: { state: 'input-required' }, final: true });
      const { taskId, contextId } = events.at(-1);
      const more = await collectStream<any>(client.sendMessageStream(say('this', { taskId, contextId })));
      expect(more[0]).toMatchObject({ kind: 'task', id: taskId });
      expect(more.at(-1)).toMatchObject({ status: { state: 'completed' }, final: true });
    });

    it('sends without blocking and cancels once', async () => {
      const configuration = { blocking: false, acceptedOutputModes: [] };
      const slow = resultOf(await client.sendMessage({ ...say('slow'), configuration }));
      expect(['submitted', 'working']).toContain(slow.status.state);
      const canceled = resultOf(await client.cancelTask({ id: slow.id }));
      expect(canceled).toMatchObject({ kind: 'task', id: slow.id, status: { state: 'canceled' } });
      const { id } = resultOf(await client.sendMessage(say('hello')));
      expect(await client.cancelTask({ id })).toMatchObject({ error: { code: -32002 } });
    });

    it('resubscribes to a working task and to a finished one', async () => {
      const seen: any[] = [];
      for await (const event of client.sendMessageStream(say('slow'))) {
        if ((event as any).status?.message === undefined) continue;
        const { taskId } = event as any;
        for await (const other of client.resubscribeTask({ id: taskId })) {
          if (seen.length === 0) await client.cancelTask({ id: taskId });
          seen.push(other);
        }
        const after = await collectStream<any>(client.resubscribeTask({ id: taskId }));
        expect(after.map(({ kind }) => kind)).toEqual(['task', 'status-update']);
        expect(after[1]).toMatchObject({ status: { state: 'canceled' }, final: true });
        break;
      }
      expect(seen[0]).toMatchObject({ kind: 'task', status: { state: 'working' } });
      expect(seen.at(-1)).toMatchObject({ status: { state: 'canceled' }, final: true });
    });

    it('stores a push configuration', async () => {
      const { id: taskId } = resultOf(await client.sendMessage(say('ask')));
      const pushNotificationConfig = { url: 'https://hook.test/a', token: 'secret' };
      const set = resultOf(await client.setTaskPushNotificationConfig({ taskId, pushNotificationConfig }));
      expect(set).toMatchObject({ taskId, pushNotificationConfig: { url: 'https://hook.test/a' } });
      expect(JSON.stringify(set)).not.toContain('secret');
      expect(resultOf(await client.getTaskPushNotificationConfig({ id: taskId }))).toEqual(set);
    });

    it.each([
      ['fail', 'failed', 'The agent could not finish this task.'],
      ['reject', 'rejected', 'Not this one.'],
      ['auth', 'auth-required', 'Sign in first.'],
    ])('receives the state %s', async (word, state, text) => {
      const task = resultOf(await client.sendMessage(say(word)));
      expect(task.status).toMatchObject({ state, message: { parts: [{ kind: 'text', text }] } });
    });

    it('receives specific errors', async () => {
      expect(await client.getTask({ id: 'no-such-task' })).toMatchObject({ error: { code: -32001 } });
      expect(await client.cancelTask({ id: 'no-such-task' })).toMatchObject({ error: { code: -32001 } });
      expect(await client.sendMessage({ message: { role: 'user' } } as any)).toMatchObject({
        error: { code: -32602 },
      });
      await expect(collectStream<any>(client.resubscribeTask({ id: 'no-such-task' }))).rejects.toThrow(
        /-32001|not found/i,
      );
    });

    it('receives only responses that conform to its schema', async () => {
      expect(await watch.finish()).toEqual([]);
      expect(watch.checkedCount > 20 || !watch.hasSchema).toBe(true);
    });
  });
}
