import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from 'sdk-0.3/client';
import { GrpcTransportFactory } from 'sdk-0.3/client/grpc';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collectStream } from '../../support/collect-stream.ts';
import { responseSchemas0_3, SchemaCheckingFetch } from '../../support/interop/schema-checking-fetch.ts';
import { supportedBindings, type InteropTarget, type ServedAgent } from '../targets/interop-target.ts';

/** Creates a 0.3 message. */
function say(text: string, more: object = {}): any {
  const message = { kind: 'message', messageId: crypto.randomUUID(), role: 'user' };
  return { message: { ...message, parts: [{ kind: 'text', text }], ...more } };
}

const watch = new SchemaCheckingFetch('a2a-v0.3.0.schema.json', {
  ...responseSchemas0_3,
  'tasks/pushNotificationConfig/list': 'ListTaskPushNotificationConfigResponse',
  'tasks/pushNotificationConfig/delete': 'DeleteTaskPushNotificationConfigResponse',
  'agent/getAuthenticatedExtendedCard': 'GetAuthenticatedExtendedCardResponse',
});
const cardResolver = new DefaultAgentCardResolver({ fetchImpl: watch.fetch });

const bindings = [
  { transport: 'JSONRPC', factory: new JsonRpcTransportFactory({ fetchImpl: watch.fetch }) },
  { transport: 'HTTP+JSON', factory: new RestTransportFactory() },
  { transport: 'GRPC', factory: new GrpcTransportFactory() },
];

/** Declares the tests of the official 0.3 client. */
export function testSdk0_3(target: InteropTarget): void {
  describe.each(supportedBindings(target, bindings))(
    `official 0.3 client over $transport, ${target.name}`,
    ({ transport, factory }) => {
      // REST and gRPC have the format of protocol buffers.
      const isProto = transport !== 'JSONRPC';
      let server: ServedAgent;
      let client: Client;

      beforeAll(async () => {
        server = await target.serve();
        client = await new ClientFactory({
          transports: [factory],
          preferredTransports: [transport],
          cardResolver,
        }).createFromUrl(server.url);
      });
      afterAll(() => server.stop());

      const send = (text: string, more: object = {}, configuration?: object): Promise<any> =>
        client.sendMessage({ ...say(text, more), ...(configuration && { configuration }) });

      it('fetches the card and the extended card', async () => {
        const { agentCard } = client as unknown as { agentCard: any };
        expect(agentCard).toMatchObject({
          protocolVersion: expect.stringMatching(/^0\.3/),
          name: 'Sample',
          version: '1.2.3',
          url: server.url,
          preferredTransport: 'JSONRPC',
          additionalInterfaces: expect.arrayContaining([{ url: server.url, transport: 'HTTP+JSON' }]),
          capabilities: { streaming: true, pushNotifications: true },
          supportsAuthenticatedExtendedCard: true,
          skills: [{ id: 'echo', name: 'Echo', description: 'Says it back', tags: ['test'] }],
        });
        const extended = await client.getAgentCard();
        expect(extended).toMatchObject({ name: 'Sample extended', version: '1.2.3', url: server.url });
      });

      it('receives a completed task for a message', async () => {
        const params = say('hello', { metadata: { from: 'a test' }, extensions: ['urn:x'] });
        const task: any = await client.sendMessage(params);
        expect(task).toMatchObject({
          kind: 'task',
          id: expect.any(String),
          contextId: expect.any(String),
          status: { state: 'completed', timestamp: expect.stringMatching(/^\d{4}-.*Z$/) },
          artifacts: [{ artifactId: 'answer', name: 'answer', parts: [{ kind: 'text', text: 'hello' }] }],
          history: [{ ...params.message, taskId: task.id, contextId: task.contextId }],
        });
        expect(task.history).toHaveLength(1);
        expect(task.artifacts).toHaveLength(1);
      });

      it('receives files and data unchanged', async () => {
        // In this format this client drops the name of a file.
        const name = (text: string) => (isProto ? {} : { name: text });
        const parts = [
          { kind: 'file', file: { ...name('a.bin'), mimeType: 'application/octet-stream', bytes: 'AAE=' } },
          {
            kind: 'file',
            file: { ...name('b.txt'), mimeType: 'text/plain', uri: 'https://files.test/b.txt' },
          },
          // Over gRPC this client cannot send `null`.
          { kind: 'data', data: { deep: [1, { two: transport === 'GRPC' ? 2 : null }] } },
        ];
        const task = await send('', { parts });
        expect(task.artifacts[0].parts).toMatchObject(parts);
        expect(task.history[0].parts).toMatchObject(parts);
      });

      it('streams the task, its chunks and the final status', async () => {
        const events = await collectStream<any>(client.sendMessageStream(say('stream')));
        const { id: taskId, contextId } = events[0];
        expect(events[0]).toMatchObject({ kind: 'task', status: { state: 'submitted' } });
        expect(events[1]).toMatchObject({
          kind: 'status-update',
          status: { state: 'working' },
          final: false,
        });
        expect(events.slice(2, 7)).toMatchObject(
          [0, 1, 2, 3, 4].map((i) => ({
            kind: 'artifact-update',
            taskId,
            contextId,
            artifact: { artifactId: 'answer', name: 'answer', parts: [{ kind: 'text', text: `${i}` }] },
            // In this format this client does not read the flag.
            ...(isProto ? {} : { append: i > 0 }),
            lastChunk: i === 4,
          })),
        );
        expect(events.slice(7)).toMatchObject([
          { kind: 'status-update', taskId, contextId, status: { state: 'completed' }, final: true },
        ]);
      });

      it('receives a direct message', async () => {
        const other = await target.serve({
          allowDirectReply: true,
          process: async ({ text }) => ({ messageId: 'm-1', role: 'agent', parts: [{ text }] }),
        });
        const options = { transports: [factory], preferredTransports: [transport] };
        const speaker = await new ClientFactory(options).createFromUrl(other.url);
        const expected = {
          kind: 'message',
          messageId: 'm-1',
          role: 'agent',
          parts: [{ kind: 'text', text: 'hi' }],
        };
        expect(await speaker.sendMessage(say('hi'))).toMatchObject(expected);
        expect(await collectStream<any>(speaker.sendMessageStream(say('hi')))).toMatchObject([expected]);
        await other.stop();
      });

      it('gets a task with the requested history length', async () => {
        const { id } = await send('ask');
        await send('that', { taskId: id });
        const task = await client.getTask({ id });
        expect(task).toMatchObject({ kind: 'task', id, status: { state: 'completed' } });
        expect(task.history?.map(({ role }) => role)).toEqual(['user', 'agent', 'user']);
        const short = await client.getTask({ id, historyLength: 1 });
        expect(short.history).toMatchObject([{ role: 'user', parts: [{ text: 'that' }] }]);
      });

      it('replies to a question and continues the task', async () => {
        const { id: taskId, contextId, status } = await send('ask');
        expect(status).toMatchObject({
          state: 'input-required',
          message: { kind: 'message', role: 'agent', parts: [{ kind: 'text', text: 'Which one?' }] },
        });
        const done = await send('that one', { taskId, contextId });
        expect(done).toMatchObject({ id: taskId, contextId, status: { state: 'completed' } });
        expect(done.artifacts[0].parts).toMatchObject([{ kind: 'text', text: 'that one' }]);
      });

      it('sends equal replies to two questions', async () => {
        const { id: taskId, contextId } = await send('ask twice');
        const again = await send('yes', { taskId, contextId });
        expect(again.status).toMatchObject({
          state: 'input-required',
          message: { parts: [{ text: 'Really?' }] },
        });
        const done = await send('yes', { taskId, contextId });
        expect(done.artifacts[0].parts).toMatchObject([{ text: 'yes' }, { text: 'yes' }]);
      });

      it('receives the end of the stream at input-required, and the task first after its reply', async () => {
        const events = await collectStream<any>(client.sendMessageStream(say('ask')));
        expect(events.at(-1)).toMatchObject({ status: { state: 'input-required' }, final: true });
        const { taskId, contextId } = events.at(-1);
        const more = await collectStream<any>(client.sendMessageStream(say('this', { taskId, contextId })));
        expect(more[0]).toMatchObject({ kind: 'task', id: taskId });
        expect(more.at(-1)).toMatchObject({ status: { state: 'completed' }, final: true });
      });

      it('sends without blocking and cancels', async () => {
        const slow = await send('slow', {}, { blocking: false });
        expect(['submitted', 'working']).toContain(slow.status.state);
        const canceled = await client.cancelTask({ id: slow.id });
        expect(canceled).toMatchObject({ kind: 'task', id: slow.id, status: { state: 'canceled' } });
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
          expect(after).toMatchObject([
            { kind: 'task', id: taskId, status: { state: 'canceled' } },
            { kind: 'status-update', taskId, status: { state: 'canceled' }, final: true },
          ]);
          break;
        }
        expect(seen[0]).toMatchObject({ kind: 'task', status: { state: 'working' } });
        expect(seen.at(-1)).toMatchObject({ status: { state: 'canceled' }, final: true });
      });

      it('stores push configurations', async () => {
        const { id: taskId } = await send('ask');
        const config = (id: string) => ({
          id,
          url: `https://hook.test/${id}`,
          token: 'secret',
          authentication: { schemes: ['Bearer'], credentials: 'hush' },
        });
        const shown = (id: string) => ({
          id,
          url: `https://hook.test/${id}`,
          authentication: { schemes: ['Bearer'] },
        });
        for (const id of ['a', 'b']) {
          const set = await client.setTaskPushNotificationConfig({
            taskId,
            pushNotificationConfig: config(id),
          });
          expect(set).toMatchObject({ taskId, pushNotificationConfig: shown(id) });
          expect(JSON.stringify(set)).not.toMatch(/secret|hush/);
        }
        const get: any = { id: taskId, pushNotificationConfigId: 'b' };
        expect(await client.getTaskPushNotificationConfig(get)).toMatchObject({
          taskId,
          pushNotificationConfig: shown('b'),
        });
        expect(await client.listTaskPushNotificationConfig({ id: taskId })).toMatchObject([
          { taskId, pushNotificationConfig: shown('a') },
          { taskId, pushNotificationConfig: shown('b') },
        ]);
        await client.deleteTaskPushNotificationConfig({ id: taskId, pushNotificationConfigId: 'a' });
        const left = await client.listTaskPushNotificationConfig({ id: taskId });
        expect(left.map(({ pushNotificationConfig }) => pushNotificationConfig.id)).toEqual(['b']);
      });

      it.each([
        ['fail', 'failed', 'The agent could not finish this task.'],
        ['reject', 'rejected', 'Not this one.'],
        ['auth', 'auth-required', 'Sign in first.'],
      ])('receives the state %s', async (word, state, text) => {
        const { status } = await send(word);
        expect(status).toMatchObject({ state, message: { parts: [{ kind: 'text', text }] } });
      });

      it('receives specific errors', async () => {
        await expect(client.getTask({ id: 'no-such-task' })).rejects.toThrow(TaskNotFoundError);
        await expect(client.cancelTask({ id: 'no-such-task' })).rejects.toThrow(TaskNotFoundError);
        await expect(send('hi', { taskId: 'no-such-task' })).rejects.toThrow(TaskNotFoundError);
        const { id } = await send('hello');
        await expect(client.cancelTask({ id })).rejects.toThrow(TaskNotCancelableError);
        // Over gRPC this client knows the error of some other methods only.
        await expect(send('more', { taskId: id })).rejects.toThrow(
          transport === 'GRPC' ? /accepts no more messages/ : UnsupportedOperationError,
        );
        await expect(send('hi', { role: 'nobody' })).rejects.toThrow(isProto ? /role/i : /message\.role/);
        await expect(collectStream<any>(client.resubscribeTask({ id: 'no-such-task' }))).rejects.toThrow(
          /not found/i,
        );
        await expect(
          collectStream<any>(client.sendMessageStream(say('hi', { taskId: 'no-such-task' }))),
        ).rejects.toThrow(/not found/i);
      });
    },
  );

  it('0.3 responses conform to their schema', async () => {
    expect(await watch.finish()).toEqual([]);
    expect(watch.checkedCount > 40 || !watch.hasSchema).toBe(true);
  });
}
