import { afterEach, expect, it } from 'vitest';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import { memoryTaskStore } from '../../../src/store/memory-task-store.ts';
import { expectTask, userRequest } from '../../support/engine/conversation.ts';
import { deliveredSequences } from '../../support/push/delivered-sequences.ts';
import { TestWebhook, waitUntilTrue } from '../../support/push/test-webhook.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function webhook(behavior: ConstructorParameters<typeof TestWebhook>[0]): Promise<TestWebhook> {
  const hook = await new TestWebhook(behavior).start();
  ends.push(() => hook.stop());
  return hook;
}

it('delivers all notifications of 1,000 tasks to 3 webhooks in order if 30 % of the responses fail', async () => {
  const random = seededRandom(7);
  const fails = () => {
    const dice = random();
    return dice < 0.15 ? 500 : dice < 0.25 ? 503 : dice < 0.3 ? 'reset' : 200;
  };
  const hooks = await Promise.all([webhook(fails), webhook(fails), webhook(fails)]);
  const taskStore = memoryTaskStore();
  const push = { minDelay: 1, maxDelay: 20, maxAttempts: 1_000 };
  const agent = defineAgent(
    { name: 'T', description: 'T', pushNotifications: true, process: () => 'Done.' },
    { push: { ...push, egress: { allowLoopback: true } }, taskStore },
  );
  ends.push(() => agent.close());
  const [first, ...others] = hooks.map(({ url }, n) => ({ url, id: `p${n}` }));
  const ids = await Promise.all(
    Array.from({ length: 1_000 }, async () => {
      const task = expectTask(
        await agent.send(userRequest('go', {}, { configuration: { pushConfig: first } })),
      );
      for (const config of others) {
        // From the first event, as if registered with the message.
        await taskStore.putPushConfig('', { ...config, taskId: task.id });
        await agent.createPushConfig({ ...config, taskId: task.id });
      }
      return task.id;
    }),
  );
  const last = (await taskStore.open('', ids[0] ?? ''))?.sequence ?? 0;
  for (const hook of hooks) await hook.waitUntil(() => hook.accepted.length >= 1_000 * last);
  await waitUntilTrue(async () => (await taskStore.listDeliveries()).length === 0);
  for (const [n, hook] of hooks.entries()) {
    const deliveredByTask = deliveredSequences(hook.accepted);
    const tried = deliveredSequences(hook.received);
    expect(deliveredByTask.size).toBe(1_000);
    const all = Array.from({ length: last }, (_, place) => place + 1);
    for (const id of ids) {
      expect(deliveredByTask.get(`${id}:p${n}`)).toEqual(all);
      expect(tried.get(`${id}:p${n}`)).toEqual(all);
    }
    expect(hook.received.length).toBeGreaterThan(hook.accepted.length * 1.3);
  }
}, 90_000);
