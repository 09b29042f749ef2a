import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { connect, type RemoteAgent } from '../../../src/client/connect.ts';
import { artifactTexts, collectStream, expectTask, userRequest } from '../../support/engine/conversation.ts';
import { type RunningCommand, serveModule } from '../../support/cli/run-command.ts';
import { waitUntilTrue } from '../../support/push/test-webhook.ts';
import { hasPostgres, usePostgres } from '../../support/store/postgres-server.ts';

const server = usePostgres(true);
const folder = mkdtempSync(join(tmpdir(), 'dragoman-replicas-'));
const module = join(folder, 'agent.mjs');
const dist = new URL('../../../dist/', import.meta.url).href;
// A task waits until it is resumed, or until its question is answered.
writeFileSync(
  module,
  `import { defineAgent } from '${dist}index.js';
  export default defineAgent({
    name: 'Patient',
    description: 'Waits',
    async *process({ text, signal, ask }) {
      yield 'begun by ' + process.pid;
      if (text === 'ask') yield ', answered ' + (await ask('What?')).parts[0].text + ' to ' + process.pid;
      else if (text !== 'go') await new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
    async *resume() {
      yield 'resumed by ' + process.pid;
    },
  });`,
);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const immediately = { configuration: { returnImmediately: true } };
const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function start(schema: string): Promise<RunningCommand & { agent: RemoteAgent; pid: number }> {
  const store = `${server().url}?schema=${schema}`;
  const running = await serveModule(module, ['--store', store, '--not-ready', '0s', '--drain', '0s']);
  cleanups.push(() => running.stop('SIGKILL'));
  const agent = connect(running.url, { maxRetries: 0 });
  cleanups.push(() => agent.close());
  return Object.assign(running, { agent, pid: running.process.pid ?? 0 });
}

/** Resolves to the text of the artifact that a resumed run has added, and the milliseconds until then. */
async function whenResumed(agent: RemoteAgent, id: string): Promise<{ text: string; elapsed: number }> {
  const since = performance.now();
  await waitUntilTrue(async () => (await agent.getTask({ id })).status.state === 'completed');
  return {
    text: artifactTexts(await agent.getTask({ id })).at(-1) ?? '',
    elapsed: performance.now() - since,
  };
}

describe.skipIf(!hasPostgres)('replicas on PostgreSQL', () => {
  it('serve every operation on a task of another one', async () => {
    const [one, two] = [await start('operations'), await start('operations')];
    const { id } = expectTask(await one.agent.send(userRequest('ask')));
    const answered = expectTask(await two.agent.send(userRequest('L', { taskId: id })));
    expect(artifactTexts(answered)).toEqual([`begun by ${one.pid}, answered L to ${one.pid}`]);
    const message = userRequest('wait', { messageId: 'same' }, immediately);
    const running = expectTask(await one.agent.send(message));
    expect(expectTask(await two.agent.send(message)).id).toBe(running.id);
    const events = collectStream(two.agent.subscribe({ id: running.id, afterSequence: 1 }));
    expect((await two.agent.cancelTask({ id: running.id })).status.state).toBe('canceled');
    const numbers = (await events).map(({ sequence }) => sequence);
    expect(numbers).toEqual(numbers.map((_, n) => n + 2));
    expect((await one.agent.getTask({ id: running.id })).status.state).toBe('canceled');
  });

  it('take over the tasks of a killed one within its lease and one second', async () => {
    const [one, two] = [await start('killed'), await start('killed')];
    const { id } = expectTask(await one.agent.send(userRequest('wait', {}, immediately)));
    await one.stop('SIGKILL');
    const { text, elapsed } = await whenResumed(two.agent, id);
    expect(text).toBe(`resumed by ${two.pid}`);
    console.log(`takeover after SIGKILL: ${Math.round(elapsed)} ms`);
    expect(elapsed).toBeLessThan(11_000);
  });

  it('take over the tasks of one that stops, at once', async () => {
    const [one, two] = [await start('stopped'), await start('stopped')];
    const { id } = expectTask(await one.agent.send(userRequest('wait', {}, immediately)));
    await one.stop('SIGTERM');
    const { text, elapsed } = await whenResumed(two.agent, id);
    expect(text).toBe(`resumed by ${two.pid}`);
    console.log(`takeover after SIGTERM: ${Math.round(elapsed)} ms`);
    expect(elapsed).toBeLessThan(1_000);
  });

  it('refuse the writes of one that was suspended longer than its lease', async () => {
    const [one, two] = [await start('suspended'), await start('suspended')];
    const { id } = expectTask(await one.agent.send(userRequest('wait', {}, immediately)));
    const events = collectStream(one.agent.subscribe({ id, afterSequence: 1 }));
    process.kill(one.pid, 'SIGSTOP');
    await whenResumed(two.agent, id);
    process.kill(one.pid, 'SIGCONT');
    const numbers = (await events).map(({ sequence }) => sequence);
    expect(numbers).toEqual(numbers.map((_, n) => n + 2));
    expect(await one.agent.getTask({ id })).toEqual(await two.agent.getTask({ id }));
    expect(artifactTexts(expectTask(await one.agent.send(userRequest('go'))))).toEqual([
      `begun by ${one.pid}`,
    ]);
  });
});
