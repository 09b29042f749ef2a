import { describe, expect, it } from 'vitest';
import { connect } from '../../client/connect.ts';
import { defineAgent } from '../../engine/index.ts';
import { isTask, type Task } from '../../protocol/task.ts';
import { serve } from '../../server/node/serve.ts';
import { memoryOwnershipRegister } from './memory-ownership-register.ts';
import { withTaskOwnership } from './with-task-ownership.ts';

const request = (text: string, taskId?: string) => ({
  message: { messageId: crypto.randomUUID(), role: 'user' as const, parts: [{ text }], taskId },
});

describe('withTaskOwnership', () => {
  it('rejects all operations on tasks of another owner with TASK_NOT_FOUND', async () => {
    const local = defineAgent({
      name: 'Asks',
      description: 'Asks back',
      async *process({ text }) {
        if (text === 'ask') yield { state: 'input-required', message: 'What?' };
        else yield 'done';
      },
    });
    await using server = await serve(local);
    await using remote = connect(server.url);
    const agent = withTaskOwnership(remote);
    const [alice, bob] = [{ owner: 'alice' }, { owner: 'bob' }];
    const task = await agent.send(request('ask'), alice);
    if (!isTask(task)) throw new Error('no task');
    const notFound = { reason: 'TASK_NOT_FOUND' };
    await expect(agent.getTask({ id: task.id }, bob)).rejects.toMatchObject(notFound);
    await expect(agent.cancelTask({ id: task.id }, bob)).rejects.toMatchObject(notFound);
    await expect(agent.send(request('mine', task.id), bob)).rejects.toMatchObject(notFound);
    await expect(
      agent.stream(request('mine', task.id), bob)[Symbol.asyncIterator]().next(),
    ).rejects.toMatchObject(notFound);
    await expect(agent.subscribe({ id: task.id }, bob)[Symbol.asyncIterator]().next()).rejects.toMatchObject(
      notFound,
    );
    await expect(agent.listPushConfigs({ taskId: task.id }, bob)).rejects.toMatchObject(notFound);
    expect(await agent.listTasks({}, bob)).toMatchObject({ tasks: [], totalSize: 0 });
    expect(await agent.listTasks({}, alice)).toMatchObject({ tasks: [{ id: task.id }], totalSize: 1 });
    expect(await agent.getTask({ id: task.id }, alice)).toMatchObject({ id: task.id });
    let streamed: Task | undefined;
    for await (const event of agent.stream(request('more'), bob))
      if (event.kind === 'task') streamed = event.task;
    await expect(agent.getTask({ id: streamed?.id ?? '' }, alice)).rejects.toMatchObject(notFound);
    expect(await agent.getTask({ id: streamed?.id ?? '' }, bob)).toMatchObject({
      status: { state: 'completed' },
    });
  });

  it('evicts the least recently used task beyond the maximum of the register', async () => {
    const local = defineAgent({ name: 'A', description: 'a', process: () => 'x' });
    const agent = withTaskOwnership(local, { register: memoryOwnershipRegister({ max: 4 }) });
    const ids: string[] = [];
    for (const text of ['a', 'b']) ids.push(((await agent.send(request(text))) as Task).id);
    await agent.getTask({ id: ids[0] ?? '' });
    ids.push(((await agent.send(request('c'))) as Task).id);
    await expect(agent.getTask({ id: ids[1] ?? '' })).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
    for (const at of [0, 2]) expect(await agent.getTask({ id: ids[at] ?? '' })).toBeDefined();
  });
});
