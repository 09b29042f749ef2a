import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import { sqliteTaskStore } from '../../../src/store/sqlite.ts';
import { serve } from '../../../src/server/node/serve.ts';
import { runDragoman, type RunningCommand } from '../../support/cli/run-command.ts';
import { runInProcess } from '../../support/cli/run-in-process.ts';
import { closeAfterEach } from '../../support/close-after-each.ts';

const open = closeAfterEach();

function start(...args: string[]): RunningCommand {
  const started = runDragoman(['console', ...args]);
  open.push({ close: () => started.stop('SIGKILL') });
  return started;
}

describe('dragoman console', () => {
  it('prints one line of JSON, serves the page and exits on SIGINT with open connections', async () => {
    let seen: unknown;
    const agent = defineAgent({
      name: 'Echo',
      description: 'Echo',
      process: ({ text, call }) => {
        seen = call.headers?.['x-key'];
        return text;
      },
    });
    await using server = await serve(agent);
    const started = start(server.url, '--port', '0', '-o', 'json', '-H', 'X-Key: abc');
    const [line = ''] = await started.prints(/^\{.*\}\n/);
    const { url, origin } = JSON.parse(line);
    expect(line).toBe(`${JSON.stringify({ url, origin })}\n`);
    const token = new URL(url).searchParams.get('token');
    const headers = { authorization: `Bearer ${token}` };
    expect(await (await fetch(url)).text()).toContain('<!doctype html>');
    const [entry] = (await (await fetch(`${origin}/api/agents`, { headers })).json()) as any[];
    expect(entry).toMatchObject({ name: 'Echo', hasCredentials: true });
    const response = await fetch(`${origin}/api/agents/${entry.id}/messages`, {
      method: 'POST',
      headers,
      body: '{"parts":[{"text":"hi"}]}',
    });
    expect(await response.text()).toContain('"kind":"done"');
    expect(seen).toBe('abc');
    const open = await fetch(`${origin}/api/traffic`, { headers });
    const { code, stderr } = await started.stop('SIGINT');
    expect(stderr).toBe('');
    expect(code).toBe(0);
    await open.text().catch(() => undefined);
    await agent.close();
  });

  it('lists undelivered notifications of a store file and retries them', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'dragoman-console-'));
    const file = join(folder, 'tasks.db');
    const taskStore = await sqliteTaskStore({ file });
    const task = { id: 't', contextId: 'c', status: { state: 'completed' as const } };
    await (await taskStore.create('', task)).whenPersisted();
    await taskStore.putPushConfig('', { id: 'p', taskId: 't', url: 'https://hooks.example/x' });
    const deadSince = '2026-01-01T00:00:00.000Z';
    await taskStore.putDelivery('', 't', 'p', { delivered: 0, attempts: 9, deadSince });
    await taskStore[Symbol.asyncDispose]();
    const started = start('--port', '0', '-o', 'json', '--store', `sqlite:${file}`);
    const [line = ''] = await started.prints(/^\{.*\}\n/);
    const { url, origin } = JSON.parse(line);
    const headers = { authorization: `Bearer ${new URL(url).searchParams.get('token')}` };
    const ask = async (path: string, body?: string): Promise<any> =>
      (await fetch(`${origin}/api/${path}`, { headers, method: body ? 'POST' : 'GET', body })).json();
    expect(await ask('info')).toMatchObject({ hasPushDeliveries: true });
    expect(await ask('push-deliveries')).toMatchObject([
      { taskId: 't', configId: 'p', attempts: 9, deadSince },
    ]);
    expect(await ask('push-deliveries/retry', '{"taskId":"t","configId":"p"}')).toEqual({ retried: 1 });
    expect((await started.stop('SIGINT')).code).toBe(0);
    rmSync(folder, { recursive: true });
  });

  it.each([
    [['localhost:4000'], 'Invalid URL: localhost:4000'],
    [['-H', 'nonsense'], 'Invalid header'],
    [['--store', 'memory'], '--store memory cannot be read'],
    [['--token', 'short'], 'token must have at least 16 characters'],
  ])('rejects the arguments %j with an error', async (args, message) => {
    const { code, stderr } = await runInProcess(['console', '--port', '0', ...args]);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });
});
