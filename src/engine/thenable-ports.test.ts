import { describe, expect, it } from 'vitest';
import { collectStream, createDeferred, expectTask } from '../../test/support/engine/conversation.ts';
import { isThenable } from '../primitives/maybe-promise.ts';
import { textOf } from '../protocol/part.ts';
import { bearerAuth } from '../server/auth/schemes/bearer.ts';
import { basicAuth } from '../server/auth/schemes/basic.ts';
import { apiKeyAuth } from '../server/auth/schemes/api-key.ts';
import { connect } from '../client/connect.ts';
import { bearer } from '../client/credentials.ts';
import { memoryTaskStore } from '../store/memory-task-store.ts';
import type { TaskLog, TaskStore } from '../store/task-store.ts';
import { serve } from '../server/node/serve.ts';
import { defineAgent } from './local-agent.ts';

/** A promise of another library: it has only `then`. */
function thenable<T>(value: T): PromiseLike<T> {
  // eslint-disable-next-line unicorn/no-thenable
  return { then: (resolve, reject) => Promise.resolve(value).then(resolve, reject) };
}

/** A task store whose methods all return thenables that are no promises. */
function thenableStore(): TaskStore {
  const wrap = (value: object): object =>
    new Proxy(value, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function' || name === 'outage' || name === Symbol.asyncDispose) return member;
        return (...args: unknown[]) => {
          const result: unknown = member.apply(target, args);
          if (name === 'create' || name === 'open') return thenable(result && wrapLog(result as TaskLog));
          return thenable(result);
        };
      },
      set: (target, name, value) => Reflect.set(target, name, value),
    });
  const wrapLog = (log: TaskLog): TaskLog =>
    new Proxy(log, {
      get(target, name) {
        if (name === 'whenPersisted') return () => thenable(undefined);
        const member: unknown = Reflect.get(target, name);
        return typeof member === 'function' ? (member.bind(target) as unknown) : member;
      },
      set: (target, name, value) => Reflect.set(target, name, value),
    });
  return wrap(memoryTaskStore()) as TaskStore;
}

describe('a task store that returns thenables', () => {
  it('serves every operation of an agent', async () => {
    const answered = createDeferred();
    await using agent = defineAgent(
      {
        name: 'T',
        description: 'T',
        pushNotifications: true,
        async *process(context) {
          yield 'start';
          const answer = await context.ask('More?');
          answered.resolve();
          yield textOf(answer.parts);
        },
      },
      { taskStore: thenableStore() },
    );
    await agent.ready();
    const asked = expectTask(await agent.send('hi'));
    expect(asked.status.state).toBe('input-required');
    await agent.createPushConfig({ id: 'p', taskId: asked.id, url: 'https://hooks.example/' });
    expect((await agent.listPushConfigs({ taskId: asked.id })).configs).toHaveLength(1);
    await agent.deletePushConfig({ id: 'p', taskId: asked.id });
    const events = await collectStream(agent.stream({ text: 'yes', taskId: asked.id }));
    await answered.promise;
    expect(events.at(-1)).toMatchObject({ kind: 'status', status: { state: 'completed' } });
    expect(textOf(await agent.getTask({ id: asked.id }))).toBe('startyes');
    expect((await agent.listTasks({})).tasks).toHaveLength(1);
    expect((await collectStream(agent.subscribe({ id: asked.id, afterSequence: 0 }))).length).toBeGreaterThan(
      3,
    );
    const other = expectTask(await agent.send('again'));
    expect((await agent.cancelTask({ id: other.id })).status.state).toBe('canceled');
  });
});

describe('an authenticator that returns a thenable', () => {
  it.each([
    ['bearer', bearerAuth({ tokens: (token) => thenable(token === 'right' ? 'ann' : undefined) }), {}],
    [
      'basic',
      basicAuth({ users: (_name, password) => thenable(password === 'right' ? 'ann' : undefined) }),
      { authorization: `Basic ${btoa('ann:right')}` },
    ],
    [
      'API key',
      apiKeyAuth({
        in: 'header',
        name: 'x-key',
        keys: (key) => thenable(key === 'right' ? 'ann' : undefined),
      }),
      { 'x-key': 'right' },
    ],
    [
      'own',
      {
        schemes: { own: { type: 'http' as const, scheme: 'own' } },
        authenticate: ({ headers }: { headers: { authorization?: string | string[] | undefined } }) =>
          thenable(headers.authorization === 'Own right' ? { id: 'ann' } : undefined),
      },
      { authorization: 'Own right' },
    ],
  ] as const)('accepts right and rejects wrong credentials (%s)', async (_name, authenticator, headers) => {
    const agent = defineAgent({
      name: 'T',
      description: 'T',
      process: ({ call }) => call.principal?.id ?? 'unknown',
    });
    const server = await serve(agent, { port: 0, auth: { authenticators: [authenticator as never] } });
    const isBearer = Object.keys(headers).length === 0;
    const ann = connect(server.url, isBearer ? { auth: bearer('right') } : { headers: headers as never });
    expect(textOf(expectTask(await ann.send('hi')))).toBe('ann');
    const stranger = connect(server.url, isBearer ? { auth: bearer('wrong') } : {});
    await expect(stranger.send('hi')).rejects.toMatchObject({ reason: 'UNAUTHENTICATED' });
    await Promise.all([ann.close(), stranger.close()]);
    await server.stop();
  });
});

it('recognizes thenables', () => {
  expect(
    [thenable(1), Promise.resolve(1), {}, undefined, null, 'then'].map((each) => isThenable(each)),
  ).toEqual([true, true, false, false, false, false]);
});
