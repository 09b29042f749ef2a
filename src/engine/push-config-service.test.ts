import { describe, expect, it } from 'vitest';
import { reasonOf, userRequest, expectTask } from '../../test/support/engine/conversation.ts';
import { status } from './agent-output.ts';
import { defineAgent } from './local-agent.ts';

const url = 'https://hook.example/a2a';

/** No request of these tests may leave the local host. */
const nowhere = async (): Promise<string[]> => [];

async function waiting(maxPushConfigs?: number) {
  const agent = defineAgent(
    {
      name: 'T',
      description: 'T',
      pushNotifications: true,
      process: () => status('input-required', 'Which?'),
    },
    { maxPushConfigs, push: { egress: { resolve: nowhere } } },
  );
  return { agent, taskId: expectTask(await agent.send(userRequest('hi'))).id };
}

describe('push configurations', () => {
  it('creates, finds, lists and deletes configurations', async () => {
    const { agent, taskId } = await waiting();
    const named = await agent.createPushConfig({ taskId, id: 'one', url });
    const made = await agent.createPushConfig({ taskId, id: '', url });
    expect(named).toMatchObject({ taskId, id: 'one', url });
    expect(made.id).not.toBe('');
    expect(await agent.getPushConfig({ taskId, id: 'one' })).toEqual(named);
    expect(await agent.getPushConfig({ taskId })).toEqual(named);
    expect((await agent.listPushConfigs({ taskId })).configs).toEqual([named, made]);
    await agent.deletePushConfig({ taskId, id: 'one' });
    await agent.deletePushConfig({ taskId, id: 'one' });
    expect((await agent.listPushConfigs({ taskId })).configs).toEqual([made]);
    expect(await reasonOf(agent.getPushConfig({ taskId, id: 'one' }))).toBe('TASK_NOT_FOUND');
  });

  it('returns configurations without credentials', async () => {
    const { agent, taskId } = await waiting();
    const authentication = { scheme: 'Bearer', credentials: 'secret' };
    const config = { taskId, id: 'one', url, token: 'secret', authentication };
    const shown = { taskId, id: 'one', url, authentication: { scheme: 'Bearer' }, version: '1.0' };
    expect(await agent.createPushConfig(config, { version: '1.0' })).toEqual(shown);
    expect(await agent.getPushConfig({ taskId, id: 'one' })).toEqual(shown);
    expect((await agent.listPushConfigs({ taskId })).configs).toEqual([shown]);
  });

  it.each<[string, object, string]>([
    ['a private address', { url: 'https://10.0.0.7/hook' }, 'url'],
    ['localhost', { url: 'https://localhost/hook' }, 'url'],
    ['a cloud metadata address', { url: 'http://169.254.169.254/latest' }, 'url'],
    ['a file URL', { url: 'file:///etc/passwd' }, 'url'],
    ['an unencrypted URL', { url: 'http://hook.example/' }, 'url'],
    ['credentials in the URL', { url: 'https://a:b@hook.example/' }, 'url'],
    ['a header injection in the token', { url, token: 'a\r\nb: c' }, 'token'],
    ['a scheme with a space', { url, authentication: { scheme: 'a b' } }, 'authentication.scheme'],
    [
      'a header injection in the credentials',
      { url, authentication: { scheme: 'a', credentials: 'b\nc' } },
      'authentication.credentials',
    ],
  ])('rejects %s without revealing the reason', async (_what, config, field) => {
    const { agent, taskId } = await waiting();
    const refused = agent.createPushConfig({ taskId, id: 'a', url, ...config });
    await expect(refused).rejects.toMatchObject({
      reason: 'INVALID_PARAMS',
      violations: [{ field }],
      message: expect.not.stringMatching(/private|loopback|machine|10\.|169|localhost/),
    });
    expect((await agent.listPushConfigs({ taskId })).configs).toEqual([]);
  });

  it('replaces a configuration with the same id', async () => {
    const { agent, taskId } = await waiting(1);
    await agent.createPushConfig({ taskId, id: 'one', url });
    await agent.createPushConfig({ taskId, id: 'one', url: `${url}/2` });
    expect((await agent.listPushConfigs({ taskId })).configs).toMatchObject([{ url: `${url}/2` }]);
  });

  it('uses the task id as default id before 1.0', async () => {
    const { agent, taskId } = await waiting();
    expect((await agent.createPushConfig({ taskId, id: '', url }, { version: '0.3' })).id).toBe(taskId);
  });

  it('lists configurations in pages', async () => {
    const { agent, taskId } = await waiting();
    for (const id of ['a', 'b', 'c']) await agent.createPushConfig({ taskId, id, url });
    const first = await agent.listPushConfigs({ taskId, pageSize: 2 });
    expect(first.configs.map(({ id }) => id)).toEqual(['a', 'b']);
    const second = await agent.listPushConfigs({ taskId, pageSize: 2, pageToken: first.nextPageToken });
    expect(second).toMatchObject({ configs: [{ id: 'c' }], nextPageToken: '' });
    expect(await reasonOf(agent.listPushConfigs({ taskId, pageToken: 'x' }))).toBe('INVALID_PARAMS');
  });

  it('rejects configurations above maxPushConfigs, an invalid URL and an unknown task', async () => {
    const { agent, taskId } = await waiting(2);
    await agent.createPushConfig({ taskId, id: 'a', url });
    await agent.createPushConfig({ taskId, id: 'b', url });
    expect(await reasonOf(agent.createPushConfig({ taskId, id: 'c', url }))).toBe('RESOURCE_EXHAUSTED');
    expect(await reasonOf(agent.createPushConfig({ taskId, id: 'a', url: 'nowhere' }))).toBe(
      'INVALID_PARAMS',
    );
    expect(await reasonOf(agent.createPushConfig({ taskId: 'x', id: 'a', url }))).toBe('TASK_NOT_FOUND');
  });

  it('registers a configuration that a message contains', async () => {
    const { agent } = await waiting();
    const task = expectTask(
      await agent.send(userRequest('hi', {}, { configuration: { pushConfig: { url } } })),
    );
    expect((await agent.listPushConfigs({ taskId: task.id })).configs).toMatchObject([{ url }]);
    await agent.send(
      userRequest('L', { taskId: task.id }, { configuration: { pushConfig: { url, id: 'second' } } }),
    );
    expect((await agent.listPushConfigs({ taskId: task.id })).configs).toHaveLength(2);
  });

  it('fails the task of a message with an invalid configuration', async () => {
    const { agent } = await waiting();
    const request = userRequest('hi', {}, { configuration: { pushConfig: { url: 'nowhere' } } });
    expect(await reasonOf(agent.send(request))).toBe('INVALID_PARAMS');
    expect((await agent.listTasks({ status: 'submitted' })).tasks).toEqual([]);
    expect((await agent.listTasks({ status: 'working' })).tasks).toEqual([]);
  });

  it('rejects configurations if the agent does not support push', async () => {
    const agent = defineAgent({ name: 'T', description: 'T', process: () => {} });
    const taskId = expectTask(await agent.send(userRequest('hi'))).id;
    for (const refused of [
      agent.createPushConfig({ taskId, id: 'a', url }),
      agent.getPushConfig({ taskId, id: 'a' }),
      agent.listPushConfigs({ taskId }),
      agent.deletePushConfig({ taskId, id: 'a' }),
      agent.send(userRequest('hi', {}, { configuration: { pushConfig: { url } } })),
    ]) {
      expect(await reasonOf(refused)).toBe('PUSH_NOTIFICATION_NOT_SUPPORTED');
    }
  });
});
