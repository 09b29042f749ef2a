import { describe, expect, it } from 'vitest';
import { connect } from '../../../src/client/index.ts';
import type { LocalAgent } from '../../../src/engine/local-agent.ts';
import { serve } from '../../../src/server/node/serve.ts';
import { createDeferred, expectTask, userRequest } from '../../support/engine/conversation.ts';
import { hasPostgres } from '../../support/store/postgres-server.ts';
import { useReplicaStores } from '../../support/store/replica-stores.ts';
import { recordSpans } from '../../support/tracing/span-recorder.ts';

const recorder = recordSpans();
const replicas = useReplicaStores();

async function connectTo(agent: LocalAgent) {
  const server = await serve(agent);
  replicas.onEnd(() => server.stop(0));
  const client = connect(server.url);
  replicas.onEnd(() => client.close());
  await client.card();
  return client;
}

describe.skipIf(!hasPostgres)('the trace of a task on two replicas', () => {
  it('links a waiting run to the answer that the other replica received', async () => {
    const definition = {
      name: 'Asker',
      process: async ({ ask }: { ask: (question: string) => Promise<{ messageId: string }> }) =>
        `Hello ${(await ask('Name?')).messageId}`,
    };
    const one = await connectTo(await replicas.start(await replicas.open(), definition));
    const other = await connectTo(await replicas.start(await replicas.open(), definition));
    const first = await recorder.inRoot(() => one.send(userRequest('hi')));
    const { id: taskId, contextId } = expectTask(first.result);
    const message = { ...userRequest('Ada').message, taskId, contextId };
    const second = await recorder.inRoot(() => other.send({ message }));
    expect(expectTask(second.result).status.state).toBe('completed');
    const run = await recorder.one('invoke_agent Asker');
    expect(run.spanContext().traceId).toBe(first.traceId);
    expect(run.events.map(({ name }) => name)).toEqual(['gen_ai.agent.paused', 'gen_ai.agent.resumed']);
    expect(run.links.map(({ context }) => context.traceId)).toEqual([second.traceId]);
  });

  it('continues with the run of the replica that takes over', async () => {
    const isRunning = createDeferred();
    const store = await replicas.open();
    const leaving = await replicas.start(store, {
      name: 'Leaving',
      process: () => {
        isRunning.resolve();
        return new Promise<string>(() => {});
      },
      resume: () => new Promise<string>(() => {}),
    });
    const client = await connectTo(leaving);
    const configuration = { returnImmediately: true };
    const { traceId, result } = await recorder.inRoot(() =>
      client.send({ ...userRequest('hi'), configuration }),
    );
    await isRunning.promise;
    const taking = await replicas.start(await replicas.open(), {
      name: 'Leaving',
      resume: () => 'done by the other',
    });
    await leaving.close();
    await store.taskStore[Symbol.asyncDispose]();
    const { id } = expectTask(result);
    await expect.poll(async () => (await taking.getTask({ id })).status.state).toBe('completed');
    const runs = await recorder.named('invoke_agent Leaving', 2);
    expect(runs.map((run) => run.spanContext().traceId)).toEqual([traceId, traceId]);
  });
});
