import { describe, expect, it } from 'vitest';
import {
  collectStream,
  artifactTexts,
  reasonOf,
  userRequest,
  expectTask,
} from '../../test/support/engine/conversation.ts';
import { textOf } from '../protocol/part.ts';
import { defineAgent } from './local-agent.ts';

const ann = { owner: 'ann' };
const bob = { owner: 'bob' };

function asking() {
  return defineAgent({
    name: 'T',
    description: 'T',
    pushNotifications: true,
    async *process(context) {
      yield textOf((await context.ask('Which?')).parts);
    },
  });
}

describe('owner isolation', () => {
  it.each([
    ['getting', (id: string, agent: ReturnType<typeof asking>) => agent.getTask({ id }, bob)],
    ['canceling', (id, agent) => agent.cancelTask({ id }, bob)],
    ['sending', (id, agent) => agent.send(userRequest('L', { taskId: id }), bob)],
    ['streaming', (id, agent) => collectStream(agent.stream(userRequest('L', { taskId: id }), bob))],
    ['subscribing', (id, agent) => collectStream(agent.subscribe({ id }, bob))],
    ['resuming', (id, agent) => collectStream(agent.subscribe({ id, afterSequence: 0 }, bob))],
    [
      'creating a push configuration',
      (taskId, agent) => agent.createPushConfig({ taskId, id: '', url: 'https://b.example' }, bob),
    ],
    ['getting a push configuration', (taskId, agent) => agent.getPushConfig({ taskId, id: 'x' }, bob)],
    ['listing push configurations', (taskId, agent) => agent.listPushConfigs({ taskId }, bob)],
    ['deleting a push configuration', (taskId, agent) => agent.deletePushConfig({ taskId, id: 'x' }, bob)],
  ] as [string, (id: string, agent: ReturnType<typeof asking>) => Promise<unknown>][])(
    'returns TASK_NOT_FOUND to another owner when %s',
    async (_how, reach) => {
      const agent = asking();
      const { id } = expectTask(await agent.send(userRequest('hi'), ann));
      await agent.createPushConfig({ taskId: id, id: 'x', url: 'https://a.example' }, ann);
      expect(await reasonOf(reach(id, agent))).toBe('TASK_NOT_FOUND');
      expect((await agent.getTask({ id }, ann)).status.state).toBe('input-required');
      expect((await agent.listPushConfigs({ taskId: id }, ann)).configs).toHaveLength(1);
    },
  );

  it('omits tasks of other owners from lists', async () => {
    const agent = asking();
    const { id, contextId } = expectTask(await agent.send(userRequest('hi'), ann));
    expect((await agent.listTasks({ contextId }, bob)).tasks).toEqual([]);
    expect((await agent.listTasks({}, ann)).tasks.map((task) => task.id)).toEqual([id]);
  });

  it('allows the same task id for different owners', async () => {
    const agent = asking();
    const claim = { clientTaskId: 'same' };
    await agent.send(userRequest('hi', {}, claim), ann);
    await agent.send(userRequest('ho', {}, claim), bob);
    const done = expectTask(await agent.send(userRequest('L', { taskId: 'same' }), ann));
    expect(artifactTexts(done)).toEqual(['L']);
    expect((await agent.getTask({ id: 'same' }, bob)).status.state).toBe('input-required');
  });

  it.each([
    ['', 'ann\u0000t'],
    ['', '3:annt'],
    ['', 'annt'],
    ['an', 'nt'],
  ])('does not confuse owner %j with task id %j', async (owner, clientTaskId) => {
    const agent = asking();
    await agent.send(userRequest('hi', {}, { clientTaskId: 't' }), ann);
    await agent.send(userRequest('hi', {}, { clientTaskId: clientTaskId }), { owner });
    await agent.send(userRequest('stolen', {}, { clientTaskId: clientTaskId }), { owner });
    expect(await agent.getTask({ id: 't' }, ann)).toMatchObject({ status: { state: 'input-required' } });
    const done = expectTask(await agent.send(userRequest('mine', {}, { clientTaskId: 't' }), ann));
    expect(artifactTexts(done)).toEqual(['mine']);
  });
});
