import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { connect } from '../src/client/connect.ts';
import type { StreamEvent } from '../src/protocol/event.ts';
import { lintStream } from '../src/protocol/lint-stream.ts';
import { textOf } from '../src/protocol/part.ts';
import { reduce } from '../src/protocol/reduce.ts';
import type { SendRequest } from '../src/protocol/requests.ts';
import type { Task } from '../src/protocol/task.ts';
import { runNode, repositoryRoot, type RunningCommand, serveModule } from './support/cli/run-command.ts';

const say = (text: string, more: object = {}): SendRequest => ({
  message: { messageId: crypto.randomUUID(), role: 'user', parts: [{ text }], ...more },
});

let running: RunningCommand | undefined;
afterEach(() => running?.stop());

async function serve(example: string): Promise<string> {
  const started = await serveModule(`examples/${example}`);
  running = started;
  return started.url;
}

describe('examples', () => {
  it('are all run here and have at most 40 lines', () => {
    const entries = readdirSync(new URL('../examples/', import.meta.url));
    // Files in folders are data and are run by the tests of their readers.
    const files = entries.filter((name) => name.endsWith('.js'));
    expect(files.sort()).toEqual(['approval.js', 'client.js', 'echo.js', 'streaming.js']);
    for (const file of files) {
      const text = readFileSync(new URL(`../examples/${file}`, import.meta.url), 'utf8');
      expect(text.split('\n').length, file).toBeLessThanOrEqual(40);
      expect(text, file).toMatch(/^\/\/ /);
    }
  });

  it('streaming.js streams two artifacts in parallel', async () => {
    await using agent = connect(await serve('streaming.js'));
    const events: StreamEvent[] = [];
    for await (const event of agent.stream(say('one three'))) events.push(event);
    expect(lintStream(events)).toEqual([]);
    expect(events.filter(({ kind }) => kind === 'artifact')).toHaveLength(4);
    const { artifacts = [] } = reduce(events) as Task;
    expect(artifacts.map(({ name, parts }) => [name, textOf(parts)])).toEqual([
      ['words.txt', 'one\nthree\n'],
      ['letters.txt', '3\n5\n'],
    ]);
  });

  it.each([
    ['yes, do', 'completed', 'Done: pay 20'],
    ['no', 'rejected', ''],
  ])('approval.js with the reply %j is %s', async (answer, state, receipt) => {
    await using agent = connect(await serve('approval.js'));
    const asking = (await agent.send(say('pay 20'))) as Task;
    expect(asking.status.state).toBe('input-required');
    expect(textOf(asking.status.message?.parts ?? [])).toBe('Shall I pay 20? Say yes or no.');
    const { id: taskId, contextId } = asking;
    const done = (await agent.send(say(answer, { taskId, contextId }))) as Task;
    expect(done.status.state).toBe(state);
    expect(textOf(done.artifacts?.flatMap(({ parts }) => parts) ?? [])).toBe(receipt);
  });

  it('client.js accepts echo.js', async () => {
    const { code, stdout, stderr } = await runNode(['examples/client.js', await serve('echo.js')]).ended;
    expect(stderr).toBe('');
    expect(stdout).toContain('Echo uses A2A 1.0 over JSONRPC');
    expect(stdout).toContain('You said: hello');
    expect(code).toBe(0);
  });

  it('client.js rejects other agents', async () => {
    const { code, stderr } = await runNode(['examples/client.js', await serve('streaming.js')], {
      cwd: repositoryRoot,
    }).ended;
    expect(stderr).toContain('Unexpected response');
    expect(code).toBe(1);
  });
});
