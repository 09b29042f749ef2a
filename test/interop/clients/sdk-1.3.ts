import { Role, TaskState } from 'sdk-1.3';
import { type Client, ClientFactory, JsonRpcTransportFactory, RestTransportFactory } from 'sdk-1.3/client';
import { GrpcTransportFactory } from 'sdk-1.3/client/grpc';
import { TaskNotCancelableError, TaskNotFoundError, UnsupportedOperationError } from 'sdk-1.3/errors';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { supportedBindings, type InteropTarget, type ServedAgent } from '../targets/interop-target.ts';
import { collect, say, text } from '../sdk-1.3-messages.ts';

const bindings = [
  { transport: 'JSONRPC', version: '1.0', factory: new JsonRpcTransportFactory() },
  { transport: 'HTTP+JSON', version: '1.0', factory: new RestTransportFactory() },
  { transport: 'GRPC', version: '1.0', factory: new GrpcTransportFactory() },
];

/** Declares the tests of the official 1.0 client. */
export function testSdk1_3(target: InteropTarget): void {
  describe.each(supportedBindings(target, bindings))(
    `official 1.0 client over $transport, ${target.name}`,
    ({ transport, factory, version }) => {
      let server: ServedAgent;
      let client: Client;

      beforeAll(async () => {
        server = await target.serve();
        client = await new ClientFactory({
          transports: [factory],
          preferredTransports: [transport],
        }).createFromUrl(server.url);
      });
      afterAll(() => server.stop());

      const send = (content: string, more: object = {}, configuration?: object): Promise<any> =>
        client.sendMessage(say(content, more, configuration));
      const ref = (id: string): any => ({ tenant: '', id });

      it('fetches the card and the extended card', async () => {
        const { agentCard } = client as unknown as { agentCard: any };
        expect(client.protocolVersion).toBe(version);
        expect(agentCard).toMatchObject({
          name: 'Sample',
          description: 'Does what the word says',
          version: '1.2.3',
          capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true },
          defaultInputModes: ['text/plain', '*/*'],
          skills: [{ id: 'echo', name: 'Echo', description: 'Says it back', tags: ['test'] }],
        });
        expect(agentCard.supportedInterfaces.slice(0, 2)).toMatchObject([
          { url: server.url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
          { url: server.url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
        ]);
        expect(await client.getAgentCard()).toMatchObject({ name: 'Sample extended', version: '1.2.3' });
      });

      it('receives a completed task for a message', async () => {
        const params = say('hello', { metadata: { from: 'a test' }, extensions: ['urn:x'] });
        const task: any = await client.sendMessage(params);
        const { id, contextId } = task;
        expect(task).toMatchObject({
          status: { state: TaskState.TASK_STATE_COMPLETED, timestamp: expect.stringMatching(/\.\d{3}Z$/) },
          artifacts: [{ artifactId: 'answer', name: 'answer', parts: [text('hello')] }],
          history: [{ ...params.message, taskId: id, contextId }],
        });
        expect(id).toMatch(/./);
        expect(contextId).toMatch(/./);
      });

      it('receives files and data unchanged', async () => {
        const labels = { metadata: undefined, filename: 'a', mediaType: 'application/x-a' };
        const parts = [
          { content: { $case: 'raw', value: Buffer.from([0, 1]) }, ...labels },
          { content: { $case: 'url', value: 'https://files.test/b' }, ...labels },
          { content: { $case: 'data', value: { deep: [1, { two: null }] } }, ...labels },
          { content: { $case: 'data', value: [1, 'two'] }, ...labels, metadata: { note: 'kept' } },
        ];
        const task = await send('', { parts });
        expect(task.artifacts[0].parts).toEqual(parts);
        expect(task.history[0].parts).toEqual(parts);
      });

      it('streams the task, its chunks and the final status', async () => {
        const events = await collect(client.sendMessageStream(say('stream')));
        const { id: taskId, contextId } = events[0].value;
        expect(events.map(({ $case }) => $case)).toEqual([
          'task',
          'statusUpdate',
          ...Array.from({ length: 5 }, () => 'artifactUpdate'),
          'statusUpdate',
        ]);
        expect(events[0].value.status.state).toBe(TaskState.TASK_STATE_SUBMITTED);
        expect(events.slice(2, 7).map(({ value }) => value)).toMatchObject(
          [0, 1, 2, 3, 4].map((i) => ({
            taskId,
            contextId,
            artifact: { artifactId: 'answer', name: 'answer', parts: [text(`${i}`)] },
            append: i > 0,
            lastChunk: i === 4,
          })),
        );
        expect(events[7].value).toMatchObject({ taskId, status: { state: TaskState.TASK_STATE_COMPLETED } });
      });

      it('receives a direct message', async () => {
        const other = await target.serve({
          allowDirectReply: true,
          process: async (context) => ({ messageId: 'm-1', role: 'agent', parts: [{ text: context.text }] }),
        });
        const options = { transports: [factory], preferredTransports: [transport] };
        const speaker = await new ClientFactory(options).createFromUrl(other.url);
        const expected = { messageId: 'm-1', role: Role.ROLE_AGENT, parts: [text('hi')] };
        expect(await speaker.sendMessage(say('hi'))).toMatchObject(expected);
        expect(await collect(speaker.sendMessageStream(say('hi')))).toMatchObject([
          { $case: 'message', value: expected },
        ]);
        await other.stop();
      });

      it('gets a task with the requested history length', async () => {
        const { id } = await send('ask');
        await send('that', { taskId: id });
        const task = await client.getTask(ref(id));
        expect(task.history.map(({ role }) => role)).toEqual([
          Role.ROLE_USER,
          Role.ROLE_AGENT,
          Role.ROLE_USER,
        ]);
        const short = await client.getTask({ ...ref(id), historyLength: 1 });
        expect(short.history).toMatchObject([{ role: Role.ROLE_USER, parts: [text('that')] }]);
        expect((await client.getTask({ ...ref(id), historyLength: 0 })).history).toEqual([]);
        await expect(client.getTask({ ...ref(id), historyLength: -1 })).rejects.toThrow(/historyLength/);
      });

      it('lists the tasks of a context, page by page', async () => {
        const contextId = crypto.randomUUID();
        const ids: string[] = [];
        for (const word of ['a', 'b', 'ask']) ids.push((await send(word, { contextId })).id);
        const list: any = {
          tenant: '',
          contextId,
          status: 0,
          pageToken: '',
          statusTimestampAfter: undefined,
        };
        const whole = await client.listTasks(list);
        expect(whole).toMatchObject({ totalSize: 3, pageSize: 50, nextPageToken: '' });
        expect(whole.tasks.map(({ id }) => id).sort()).toEqual([...ids].sort());
        expect(whole.tasks.every(({ artifacts }) => artifacts.length === 0)).toBe(true);
        const first = await client.listTasks({ ...list, pageSize: 2, includeArtifacts: true });
        expect(first).toMatchObject({ totalSize: 3, pageSize: 2, nextPageToken: expect.stringMatching(/./) });
        const second = await client.listTasks({ ...list, pageSize: 2, pageToken: first.nextPageToken });
        expect([...first.tasks, ...second.tasks].map(({ id }) => id)).toEqual(
          whole.tasks.map(({ id }) => id),
        );
        const asking = await client.listTasks({ ...list, status: TaskState.TASK_STATE_INPUT_REQUIRED });
        expect(asking).toMatchObject({ totalSize: 1, tasks: [{ id: ids[2] }] });
        await expect(client.listTasks({ ...list, pageSize: 101 })).rejects.toThrow(/pageSize/);
      });

      it('replies to a question and continues the task', async () => {
        const { id: taskId, contextId, status } = await send('ask');
        expect(status).toMatchObject({
          state: TaskState.TASK_STATE_INPUT_REQUIRED,
          message: { role: Role.ROLE_AGENT, parts: [text('Which one?')] },
        });
        const done = await send('that one', { taskId, contextId });
        expect(done).toMatchObject({ id: taskId, status: { state: TaskState.TASK_STATE_COMPLETED } });
        expect(done.artifacts[0].parts).toMatchObject([text('that one')]);
      });

      it('receives the end of the stream at input-required, and the task first after its reply', async () => {
        const events = await collect(client.sendMessageStream(say('ask')));
        expect(events.at(-1).value.status.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
        const { taskId, contextId } = events.at(-1).value;
        const more = await collect(client.sendMessageStream(say('this', { taskId, contextId })));
        expect(more[0]).toMatchObject({ $case: 'task', value: { id: taskId } });
        expect(more.at(-1).value.status.state).toBe(TaskState.TASK_STATE_COMPLETED);
      });

      it('sends without blocking and cancels', async () => {
        const slow = await send('slow', {}, { returnImmediately: true });
        expect([TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING]).toContain(slow.status.state);
        const cancel: any = { ...ref(slow.id), metadata: undefined };
        const canceled = await client.cancelTask(cancel);
        expect(canceled).toMatchObject({ id: slow.id, status: { state: TaskState.TASK_STATE_CANCELED } });
        expect(await client.cancelTask(cancel)).toEqual(canceled);
      });

      it('subscribes to a working task and not to a finished one', async () => {
        const seen: any[] = [];
        for await (const { payload } of client.sendMessageStream(say('slow')) as AsyncIterable<any>) {
          if (payload.value.status?.message === undefined) continue;
          const { taskId } = payload.value;
          for await (const other of client.resubscribeTask(ref(taskId))) {
            if (seen.length === 0) await client.cancelTask({ ...ref(taskId), metadata: undefined });
            seen.push(other.payload);
          }
          await expect(collect(client.resubscribeTask(ref(taskId)))).rejects.toThrow(
            UnsupportedOperationError,
          );
          break;
        }
        expect(seen[0]).toMatchObject({
          $case: 'task',
          value: { status: { state: TaskState.TASK_STATE_WORKING } },
        });
        expect(seen.at(-1).value.status.state).toBe(TaskState.TASK_STATE_CANCELED);
      });

      it('stores push configurations', async () => {
        const { id: taskId } = await send('ask');
        const config = (id: string) => ({
          tenant: '',
          taskId,
          id,
          url: `https://hook.test/${id}`,
          token: 'secret',
          authentication: { scheme: 'Bearer', credentials: 'abc' },
        });
        // The secrets are for the webhook only.
        const shown = (id: string) => ({
          ...config(id),
          token: '',
          authentication: { scheme: 'Bearer', credentials: '' },
        });
        for (const id of ['a', 'b'])
          expect(await client.createTaskPushNotificationConfig(config(id))).toEqual(shown(id));
        const named: any = { tenant: '', taskId, id: 'b' };
        expect(await client.getTaskPushNotificationConfig(named)).toEqual(shown('b'));
        const all: any = { tenant: '', taskId, pageSize: 0, pageToken: '' };
        expect((await client.listTaskPushNotificationConfig(all)).configs).toEqual([shown('a'), shown('b')]);
        await client.deleteTaskPushNotificationConfig({ ...named, id: 'a' });
        expect((await client.listTaskPushNotificationConfig(all)).configs).toEqual([shown('b')]);
        await expect(client.getTaskPushNotificationConfig({ ...named, id: 'a' })).rejects.toThrow(
          TaskNotFoundError,
        );
      });

      it.each([
        ['fail', TaskState.TASK_STATE_FAILED, 'The agent could not finish this task.'],
        ['reject', TaskState.TASK_STATE_REJECTED, 'Not this one.'],
        ['auth', TaskState.TASK_STATE_AUTH_REQUIRED, 'Sign in first.'],
      ])('receives the state %s', async (word, state, content) => {
        const { status } = await send(word);
        expect(status).toMatchObject({ state, message: { parts: [text(content)] } });
      });

      it('receives specific errors', async () => {
        await expect(client.getTask(ref('no-such-task'))).rejects.toThrow(TaskNotFoundError);
        await expect(send('hi', { taskId: 'no-such-task' })).rejects.toThrow(TaskNotFoundError);
        const { id } = await send('hello');
        await expect(client.cancelTask({ ...ref(id), metadata: undefined })).rejects.toThrow(
          TaskNotCancelableError,
        );
        await expect(send('more', { taskId: id })).rejects.toThrow(UnsupportedOperationError);
        await expect(send('hi', { parts: [] })).rejects.toThrow(/message\.parts/);
        await expect(collect(client.resubscribeTask(ref('no-such-task')))).rejects.toThrow(TaskNotFoundError);
      });

      it('receives the URI of the required extension', async () => {
        const other = await target.serve({ extensions: [{ uri: 'urn:needed', required: true }] });
        const options = { transports: [factory], preferredTransports: [transport] };
        const speaker = await new ClientFactory(options).createFromUrl(other.url);
        await expect(speaker.sendMessage(say('hi'))).rejects.toThrow(/urn:needed/);
        const serviceParameters = { 'A2A-Extensions': 'urn:needed' };
        expect(await speaker.sendMessage(say('hi'), { serviceParameters })).toHaveProperty('id');
        await other.stop();
      });
    },
  );
}
