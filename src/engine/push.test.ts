import { describe, expect, it } from 'vitest';
import { reasonOf, say, taskIn } from '../../test/support/conversation.ts';
import { status } from './output.ts';
import { defineAgent } from './local-agent.ts';

const url = 'https://hook.example/a2a';

async function waiting(maxPushConfigs?: number) {
  const agent = defineAgent(
    {
      name: 'T',
      description: 'T',
      pushNotifications: true,
      process: () => status('input-required', 'Which?'),
    },
    { maxPushConfigs },
  );
  return { agent, taskId: taskIn(await agent.send(say('hi'))).id };
}

describe('push configurations', () => {
  it('are created, found, listed and deleted', async () => {
    const { agent, taskId } = await waiting();
    const named = await agent.createPushConfig({ taskId, id: 'one', url, token: 't' });
    const made = await agent.createPushConfig({ taskId, id: '', url });
    expect(named).toMatchObject({ taskId, id: 'one', url, token: 't' });
    expect(made.id).not.toBe('');
    expect(await agent.getPushConfig({ taskId, id: 'one' })).toEqual(named);
    expect(await agent.getPushConfig({ taskId })).toEqual(named);
    expect((await agent.listPushConfigs({ taskId })).configs).toEqual([named, made]);
    await agent.deletePushConfig({ taskId, id: 'one' });
    await agent.deletePushConfig({ taskId, id: 'one' });
    expect((await agent.listPushConfigs({ taskId })).configs).toEqual([made]);
    expect(await reasonOf(agent.getPushConfig({ taskId, id: 'one' }))).toBe('TASK_NOT_FOUND');
  });

  it('replace the one of the same name', async () => {
    const { agent, taskId } = await waiting(1);
    await agent.createPushConfig({ taskId, id: 'one', url });
    await agent.createPushConfig({ taskId, id: 'one', url: `${url}/2` });
    expect((await agent.listPushConfigs({ taskId })).configs).toMatchObject([{ url: `${url}/2` }]);
  });

  it('are called like the task when an older caller gives no name', async () => {
    const { agent, taskId } = await waiting();
    expect((await agent.createPushConfig({ taskId, id: '', url }, { version: '0.3' })).id).toBe(taskId);
  });

  it('come in pages', async () => {
    const { agent, taskId } = await waiting();
    for (const id of ['a', 'b', 'c']) await agent.createPushConfig({ taskId, id, url });
    const first = await agent.listPushConfigs({ taskId, pageSize: 2 });
    expect(first.configs.map(({ id }) => id)).toEqual(['a', 'b']);
    const second = await agent.listPushConfigs({ taskId, pageSize: 2, pageToken: first.nextPageToken });
    expect(second).toMatchObject({ configs: [{ id: 'c' }], nextPageToken: '' });
    expect(await reasonOf(agent.listPushConfigs({ taskId, pageToken: 'x' }))).toBe('INVALID_PARAMS');
  });

  it('are refused beyond the limit, for no URL and for no task', async () => {
    const { agent, taskId } = await waiting(2);
    await agent.createPushConfig({ taskId, id: 'a', url });
    await agent.createPushConfig({ taskId, id: 'b', url });
    expect(await reasonOf(agent.createPushConfig({ taskId, id: 'c', url }))).toBe('RESOURCE_EXHAUSTED');
    expect(await reasonOf(agent.createPushConfig({ taskId, id: 'a', url: 'nowhere' }))).toBe(
      'INVALID_PARAMS',
    );
    expect(await reasonOf(agent.createPushConfig({ taskId: 'x', id: 'a', url }))).toBe('TASK_NOT_FOUND');
  });

  it('may come with a message', async () => {
    const { agent } = await waiting();
    const task = taskIn(await agent.send(say('hi', {}, { configuration: { pushConfig: { url } } })));
    expect((await agent.listPushConfigs({ taskId: task.id })).configs).toMatchObject([{ url }]);
    await agent.send(say('L', { taskId: task.id }, { configuration: { pushConfig: { url, id: 'second' } } }));
    expect((await agent.listPushConfigs({ taskId: task.id })).configs).toHaveLength(2);
  });

  it('that are wrong leave no task behind that nobody works on', async () => {
    const { agent } = await waiting();
    const request = say('hi', {}, { configuration: { pushConfig: { url: 'nowhere' } } });
    expect(await reasonOf(agent.send(request))).toBe('INVALID_PARAMS');
    expect((await agent.listTasks({ status: 'submitted' })).tasks).toEqual([]);
    expect((await agent.listTasks({ status: 'working' })).tasks).toEqual([]);
  });

  it('are all refused by an agent that has none', async () => {
    const agent = defineAgent({ name: 'T', description: 'T', process: () => {} });
    const taskId = taskIn(await agent.send(say('hi'))).id;
    for (const refused of [
      agent.createPushConfig({ taskId, id: 'a', url }),
      agent.getPushConfig({ taskId, id: 'a' }),
      agent.listPushConfigs({ taskId }),
      agent.deletePushConfig({ taskId, id: 'a' }),
      agent.send(say('hi', {}, { configuration: { pushConfig: { url } } })),
    ]) {
      expect(await reasonOf(refused)).toBe('PUSH_NOTIFICATION_NOT_SUPPORTED');
    }
  });
});
