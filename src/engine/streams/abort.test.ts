import { describe, expect, it } from 'vitest';
import type { StreamEvent } from '../../protocol/event.ts';
import { defineAgent } from '../local-agent.ts';

const message = (text: string) => ({
  messageId: crypto.randomUUID(),
  role: 'user' as const,
  parts: [{ text }],
});

function waiting() {
  let finish = (): void => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const agent = defineAgent({
    name: 'Waiting',
    description: 'Waits',
    async process() {
      await finished;
      return 'done';
    },
  });
  return { agent, finish };
}

describe('abort signal of a local caller', () => {
  it('rejects a send at once while the task continues', async () => {
    const { agent, finish } = waiting();
    const controller = new AbortController();
    const sending = agent.send({ message: message('hi') }, { signal: controller.signal });
    controller.abort();
    await expect(sending).rejects.toMatchObject({ reason: 'CANCELED' });
    const { tasks } = await agent.listTasks({});
    finish();
    for await (const event of agent.subscribe({ id: tasks[0]?.id ?? '' }))
      if (event.kind === 'status') continue;
    expect(await agent.getTask({ id: tasks[0]?.id ?? '' })).toMatchObject({ status: { state: 'completed' } });
    await agent.close();
  });

  it('rejects streams and subscriptions at once', async () => {
    const { agent } = waiting();
    const controller = new AbortController();
    const events: StreamEvent[] = [];
    const reading = (async () => {
      for await (const event of agent.stream({ message: message('hi') }, { signal: controller.signal })) {
        events.push(event);
        if (event.kind === 'status') controller.abort();
      }
    })();
    await expect(reading).rejects.toMatchObject({ reason: 'CANCELED' });
    expect(events.map(({ kind }) => kind)).toEqual(['task', 'status']);
    const id = events[0]?.kind === 'task' ? events[0].task.id : '';
    const signal = AbortSignal.abort();
    const subscribing = (async () => {
      for await (const event of agent.subscribe({ id }, { signal })) events.push(event);
    })();
    await expect(subscribing).rejects.toMatchObject({ reason: 'CANCELED' });
    expect(await agent.getTask({ id })).toMatchObject({ status: { state: 'working' } });
    await agent.close();
  });
});
