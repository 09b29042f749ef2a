import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../../../src/client/connect.ts';
import type { RemoteAgent } from '../../../src/client/connect.ts';
import { textOf } from '../../../src/protocol/part.ts';
import type { Task } from '../../../src/protocol/task.ts';
import { repositoryRoot, type RunningCommand, serveModule } from '../../support/cli/run-command.ts';
import { type ReverseProxy, reverseProxies } from '../../support/process/reverse-proxy.ts';
import { hasPostgres, usePostgres } from '../../support/store/postgres-server.ts';

const module = join(repositoryRoot, 'test/integration/fixtures/replicated-agent.mjs');
const env = { DRAGOMAN_MODULE: pathToFileURL(join(repositoryRoot, 'dist/index.js')).href };

describe.each(reverseProxies)('three replicas behind $name', ({ program, start }) => {
  const postgres = usePostgres();
  const canRun = hasPostgres && program !== undefined;
  let replicas: (RunningCommand & { url: string })[] = [];
  let proxy!: ReverseProxy;
  let agent!: RemoteAgent;

  beforeAll(async () => {
    if (!canRun) return;
    const flags = ['--store', postgres().url, '--trust-proxy', '127.0.0.1', '--log', 'json', '--drain', '1s'];
    replicas = await Promise.all([1, 2, 3].map(() => serveModule(module, flags, { env })));
    proxy = await start(
      program,
      replicas.map(({ url }) => Number(new URL(url).port)),
    );
    agent = connect(proxy.url);
  });
  // The setup may have failed halfway.
  afterAll(() => Promise.all(replicas.map((each) => each.stop())));
  afterAll(() => proxy?.stop());
  afterAll(() => agent?.close());

  it.skipIf(!canRun)('spreads requests over all replicas', async () => {
    const answers = new Set<string>();
    for (let i = 0; i < 12; i++) answers.add(textOf((await agent.send('hello')) as Task).trim());
    expect([...answers].toSorted()).toEqual(
      replicas.map(({ process: { pid } }) => `started ${pid}`).toSorted(),
    );
  });

  it.skipIf(!canRun)('passes events on at once, and cancels at any replica', async () => {
    for (let i = 0; i < 4; i++) {
      let state = '';
      for await (const event of agent.stream('wait')) {
        // The agent waits for the cancellation, so the event was not kept back.
        if (event.kind === 'artifact') await agent.cancelTask({ id: event.taskId });
        if (event.kind === 'status') ({ state } = event.status);
      }
      expect(state).toBe('canceled');
    }
  });

  it.skipIf(!canRun)('accepts the answer to a question at any replica', async () => {
    for (let i = 0; i < 4; i++) {
      const { id: taskId, status } = (await agent.send('ask')) as Task;
      expect(status.state).toBe('input-required');
      expect(textOf((await agent.send({ text: 'Oslo', taskId })) as Task)).toMatch(/^Oslo \d+$/);
      expect((await agent.getTask({ id: taskId })).status.state).toBe('completed');
    }
  });

  it.skipIf(!canRun)('passes a request of 9 MB, and the error of the server for a larger one', async () => {
    const text = 'x'.repeat(9_000_000);
    expect(((await agent.send(text)) as Task).status.state).toBe('completed');
    const response = await fetch(proxy.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'SendMessage',
        params: { text: 'x'.repeat(10_600_000) },
      }),
    });
    expect(response.status).toBe(413);
  });

  it.skipIf(!canRun)('forwards the address of the client', async () => {
    await fetch(`${proxy.url}/tasks`, {
      headers: { 'a2a-version': '1.0', 'x-forwarded-for': '203.0.113.7' },
    });
    const logs = replicas.map(({ stderr }) => stderr).join('');
    expect(logs).toContain('203.0.113.7');
  });
});
