import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { TestWebhook } from '../../support/push/test-webhook.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-push-kill-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const script = join(folder, 'agent.mjs');
const dist = (name: string): string => new URL(`../../../dist/${name}`, import.meta.url).href;
// Starts the tasks that its arguments name, resumes older ones, and prints a line when all deliveries are done.
writeFileSync(
  script,
  `import { defineAgent } from '${dist('index.js')}';
  import { sqliteTaskStore } from '${dist('store/sqlite.js')}';
  const [file, webhooks, prefix, count] = process.argv.slice(2);
  const taskStore = await sqliteTaskStore({ file });
  async function* work() {
    for (let n = 0; n < 6; n++) {
      yield 'chunk ' + n;
      await new Promise(setImmediate);
    }
  }
  const agent = defineAgent(
    { name: 'Busy', description: 'Streams', pushNotifications: true, process: work, resume: work },
    { taskStore, push: { egress: { allowLoopback: true }, minDelay: 10, maxDelay: 50, maxAttempts: 1e6 } },
  );
  await agent.ready();
  for (let n = 0; n < Number(count); n++) {
    for (const [v, version] of ['1.0', '0.3'].entries()) {
      const url = webhooks.split(',')[v];
      const message = { messageId: prefix + version + n, role: 'user', parts: [{ text: 'go' }] };
      const pushConfig = { id: 'p', url };
      await agent.send({ message, configuration: { returnImmediately: true, pushConfig } }, { version });
    }
    process.stdout.write('started\\n');
  }
  for (;;) {
    const open = await taskStore.listDeliveries();
    if (open.length === 0) break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  process.stdout.write('done\\n');
  setInterval(() => {}, 1e6);`,
);

function start(...args: string[]): {
  process: ChildProcess;
  printed: (text: string, times?: number) => Promise<void>;
} {
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return {
    process: child,
    async printed(text, times = 1) {
      while (output.split(`${text}\n`).length - 1 < times) {
        if (child.exitCode !== null)
          throw new Error(`exited with ${child.exitCode} before it printed ${text}`);
        await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
      }
    },
  };
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

it('delivers every event in order and at least once to webhooks that fail, across SIGKILL', async () => {
  let count = 0;
  // Every fifth attempt fails, so that deliveries lag behind their tasks.
  const behavior = (): number => (++count % 5 === 0 ? 503 : 200);
  const hooks = [await new TestWebhook(behavior).start(), await new TestWebhook(behavior).start()];
  const file = join(folder, 'tasks.db');
  const urls = hooks.map(({ url }) => url).join(',');
  const rounds = 8;
  for (let round = 0; round < rounds; round++) {
    const running = start(file, urls, `r${round}-`, '4');
    await running.printed('started', 1 + (round % 4));
    await kill(running.process);
  }
  const last = start(file, urls, 'last', '0');
  await last.printed('done');
  await kill(last.process);

  for (const [n, hook] of hooks.entries()) {
    const byTask = new Map<string, number[]>();
    for (const { id } of hook.accepted) {
      const [task = '', , sequence] = id.split(':');
      byTask.set(task, [...(byTask.get(task) ?? []), Number(sequence)]);
    }
    expect(byTask.size).toBeGreaterThanOrEqual(rounds);
    for (const sequences of byTask.values()) {
      // At least once: a notification may be repeated, but none is left out or overtaken.
      const first = sequences.filter((sequence, index) => sequences.indexOf(sequence) === index);
      expect(first).toEqual([...first].sort((a, b) => a - b));
      if (n === 0) expect(first).toEqual(Array.from({ length: first.length }, (_, index) => index + 1));
      else expect(first[0]).toBe(1);
    }
    await hook.stop();
  }
  const snapshots = hooks[0]?.accepted.filter(({ id, body }) => 'task' in body && !id.endsWith(':1')) ?? [];
  expect(snapshots).toEqual([]);
}, 180_000);
