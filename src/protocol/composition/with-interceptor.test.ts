/* oxlint-disable typescript/unbound-method -- the functions of agents need no `this` */
import { describe, expect, it } from 'vitest';
import { collectStream } from '../../../test/support/collect-stream.ts';
import { defineAgent } from '../../engine/local-agent.ts';
import type { Agent, CallContext } from '../agent.ts';
import { A2AError } from '../errors.ts';
import { textOf } from '../part.ts';
import type { SendRequest } from '../requests.ts';
import type { Task } from '../task.ts';
import { withInterceptor } from './with-interceptor.ts';

const echo = (): Agent =>
  defineAgent({ name: 'Echo', description: 'Repeats', pushNotifications: true, process: ({ text }) => text });

describe('withInterceptor', () => {
  it('changes requests and results of one operation and leaves the others alone', async () => {
    const agent = echo();
    const loud = withInterceptor(agent, {
      async send(request, call, next) {
        const parts = [{ text: `${textOf(request.message)}!` }];
        const task = (await next({ ...request, message: { ...request.message, parts } }, call)) as Task;
        return { ...task, metadata: { loud: true } };
      },
    });
    const task = (await loud.send('hi')) as Task;
    expect([textOf(task), task.metadata]).toEqual(['hi!', { loud: true }]);
    expect(textOf(await loud.getTask({ id: task.id }))).toBe('hi!');
    expect(loud.getTask).toBe(agent.getTask);
  });

  it('passes every other operation to "*" and card only to its own function', async () => {
    const seen: string[] = [];
    const agent = withInterceptor(echo(), {
      '*'(operation, request, call, next) {
        seen.push(operation);
        return next(request, call);
      },
      async cancelTask() {
        throw new A2AError('TASK_NOT_CANCELABLE', 'Never');
      },
    });
    await agent.card();
    const { id: taskId } = (await agent.send('a')) as Task;
    await collectStream(agent.stream('b'));
    await collectStream(agent.subscribe({ id: taskId, afterSequence: 0 }));
    await agent.getTask({ id: taskId });
    await agent.listTasks({});
    await agent.createPushConfig({ id: 'p', taskId, url: 'https://hooks.example/' });
    await agent.getPushConfig({ id: 'p', taskId });
    await agent.listPushConfigs({ taskId });
    await agent.deletePushConfig({ id: 'p', taskId });
    await expect(agent.extendedCard()).rejects.toMatchObject({ reason: 'UNSUPPORTED_OPERATION' });
    await expect(agent.cancelTask({ id: taskId })).rejects.toThrow('Never');
    expect(seen).toEqual([
      'send',
      'stream',
      'subscribe',
      'getTask',
      'listTasks',
      'createPushConfig',
      'getPushConfig',
      'listPushConfigs',
      'deletePushConfig',
      'extendedCard',
    ]);
  });

  it('lets an async function check access to all operations, those with a stream included', async () => {
    const agent = withInterceptor(echo(), {
      async '*'(_operation, request, call, next) {
        if (call.owner !== 'ann') throw new A2AError('UNAUTHENTICATED', 'Ann only');
        return next(request, call);
      },
    });
    await expect(agent.send('a')).rejects.toThrow('Ann only');
    await expect(collectStream(agent.stream('a'))).rejects.toThrow('Ann only');
    const ann: CallContext = { owner: 'ann' };
    expect(textOf((await agent.send('a', ann)) as Task)).toBe('a');
    expect((await collectStream(agent.stream('b', ann))).at(-1)).toMatchObject({
      kind: 'status',
      status: { state: 'completed' },
    });
  });

  it('lets a generator change the events of a stream', async () => {
    const agent = withInterceptor(echo(), {
      async *stream(request, call, next) {
        for await (const event of next(request, call)) if (event.kind === 'artifact') yield event;
      },
    });
    expect((await collectStream(agent.stream('a'))).map(({ kind }) => kind)).toEqual(['artifact']);
  });

  it('calls the last interceptor first and hands it the complete request', async () => {
    const order: string[] = [];
    const log = (name: string) => ({
      send: (
        request: SendRequest,
        call: CallContext,
        next: (r: SendRequest, c: CallContext) => Promise<Task>,
      ) => {
        order.push(`${name} ${request.message.role}`);
        return next(request, call);
      },
    });
    await withInterceptor(withInterceptor(echo(), log('inner') as never), log('outer') as never).send('x');
    expect(order).toEqual(['outer user', 'inner user']);
  });

  it('turns an exception into a rejection, also of a stream', async () => {
    const agent = withInterceptor(echo(), {
      '*'() {
        throw new Error('boom');
      },
    });
    await expect(agent.send('x')).rejects.toThrow('boom');
    await expect(collectStream(agent.stream('x'))).rejects.toThrow('boom');
    await expect(agent.send({} as never)).rejects.toMatchObject({ reason: 'INVALID_PARAMS' });
    await expect(collectStream(agent.stream({} as never))).rejects.toMatchObject({
      reason: 'INVALID_PARAMS',
    });
  });

  it('rejects a name that is no operation', () => {
    expect(() => withInterceptor(echo(), { sned: async () => ({}) } as never)).toThrow(
      'sned must be one of card, extendedCard, send, stream, getTask',
    );
  });

  it('keeps the state and all members of an agent that is an instance of a class', async () => {
    class Counter {
      #calls = 0;
      readonly label = 'counter';
      async getTask(): Promise<Task> {
        return { id: String(++this.#calls), contextId: 'c', status: { state: 'working' } };
      }
      async close(): Promise<void> {
        this.#calls = -1;
      }
    }
    const agent = withInterceptor(new Counter() as unknown as Agent & Counter, {
      getTask: async (request, call, next) => ({ ...(await next(request, call)), contextId: 'other' }),
    });
    expect(await agent.getTask()).toMatchObject({ id: '1', contextId: 'other' });
    const { getTask, close } = agent;
    await close();
    expect(await getTask()).toMatchObject({ id: '0' });
    expect(agent.label).toBe('counter');
  });
});
