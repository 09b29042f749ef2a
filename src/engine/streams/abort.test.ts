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

describe('a caller in the same process that leaves', () => {
  it('is let go of at once by a send, and the task goes on', async () => {
    const { agent, finish } = waiting();
    const leaving = new AbortController();
    const sending = agent.send({ message: message('hi') }, { signal: leaving.signal });
    leaving.abort();
    await expect(sending).rejects.toMatchObject({ reason: 'CANCELED' });
    const { tasks } = await agent.listTasks({});
    finish();
    for await (const event of agent.subscribe({ id: tasks[0]?.id ?? '' }))
      if (event.kind === 'status') continue;
    expect(await agent.getTask({ id: tasks[0]?.id ?? '' })).toMatchObject({ status: { state: 'completed' } });
    await agent.close();
  });

  it('is let go of at once by a stream and by a subscription', async () => {
    const { agent } = waiting();
    const leaving = new AbortController();
    const events: StreamEvent[] = [];
    const following = (async () => {
      for await (const event of agent.stream({ message: message('hi') }, { signal: leaving.signal })) {
        events.push(event);
        if (event.kind === 'status') leaving.abort();
      }
    })();
    await expect(following).rejects.toMatchObject({ reason: 'CANCELED' });
    expect(events.map(({ kind }) => kind)).toEqual(['task', 'status']);
    const id = events[0]?.kind === 'task' ? events[0].task.id : '';
    const gone = AbortSignal.abort();
    const subscribing = (async () => {
      for await (const event of agent.subscribe({ id }, { signal: gone })) events.push(event);
    })();
    await expect(subscribing).rejects.toMatchObject({ reason: 'CANCELED' });
    expect(await agent.getTask({ id })).toMatchObject({ status: { state: 'working' } });
    await agent.close();
  });
});
