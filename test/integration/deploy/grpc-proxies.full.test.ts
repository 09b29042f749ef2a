/** gRPC through nginx and HAProxy with the files of `deploy/`. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, type RemoteAgent } from '../../../src/client/connect.ts';
import { defineAgent } from '../../../src/engine/index.ts';
import { textOf } from '../../../src/protocol/part.ts';
import type { Task } from '../../../src/protocol/task.ts';
import { type RunningServer, serve } from '../../../src/server/node/serve.ts';
import { type ReverseProxy, reverseProxies } from '../../support/process/reverse-proxy.ts';

describe.each(reverseProxies)('gRPC behind $name', ({ program, start }) => {
  const canRun = program !== undefined;
  let servers: RunningServer[] = [];
  let proxy: ReverseProxy | undefined;
  let agent!: RemoteAgent;
  const served = defineAgent({
    name: 'Echo',
    description: 'Repeats',
    async *process({ text, signal }) {
      yield text;
      if (text === 'wait') await new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
  });

  beforeAll(async () => {
    if (!canRun) return;
    servers = await Promise.all([1, 2, 3].map(() => serve(served)));
    proxy = await start(
      program,
      servers.map(({ port }) => port),
    );
    agent = connect(proxy.grpcUrl);
  });
  afterAll(() => agent?.close());
  afterAll(() => proxy?.stop());
  afterAll(async () => {
    for (const server of servers) await server.stop(0);
    await served.close();
  });

  it.skipIf(!canRun)('sends messages of any size, and receives errors with their details', async () => {
    expect(textOf((await agent.send('hello')) as Task)).toBe('hello');
    const large = 'x'.repeat(3_000_000);
    expect(textOf((await agent.send(large)) as Task)).toBe(large);
    await expect(agent.getTask({ id: 'none' })).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
  });

  it.skipIf(!canRun)('receives events at once', async () => {
    let state = '';
    for await (const event of agent.stream('wait')) {
      // The agent waits for the cancellation, so the event was not kept back.
      if (event.kind === 'artifact') await agent.cancelTask({ id: event.taskId });
      if (event.kind === 'status') ({ state } = event.status);
    }
    expect(state).toBe('canceled');
  });
});
