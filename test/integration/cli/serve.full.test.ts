import { describe, expect, it } from 'vitest';
import { join } from 'node:path';
import { connect } from '../../../src/client/connect.ts';
import type { Task } from '../../../src/protocol/task.ts';
import { runDragoman } from '../../support/cli/run-command.ts';
import { agentModule, textMessage, useTemporaryModules } from '../../support/cli/temporary-modules.ts';
import { occupyPort } from '../../support/http/occupied-port.ts';

const modules = useTemporaryModules();

describe('dragoman serve', () => {
  it('colors the summary with FORCE_COLOR, except the first line', async () => {
    const agent = await modules.serve('examples/echo.js', [], { env: { FORCE_COLOR: '1', NO_COLOR: '' } });
    await agent.prints(/Ctrl-C/);
    expect(agent.stdout).toMatch(/^listening on http:\/\/127\.0\.0\.1:\d+\n/);
    expect(agent.stdout).toContain('\u001b[1mEcho');
    const plain = await modules.serve('examples/echo.js', [], { env: { FORCE_COLOR: '1', NO_COLOR: '1' } });
    await plain.prints(/Ctrl-C/);
    expect(plain.stdout).not.toContain('\u001b');
  });

  it('writes --public-url to the card', async () => {
    const agent = await modules.serve('examples/echo.js', [
      '--public-url',
      'https://agents.example.com/echo',
    ]);
    const card = (await (await fetch(`${agent.url}/.well-known/agent-card.json`)).json()) as { url: string };
    expect(card.url).toBe('https://agents.example.com/echo');
  });

  it.each([
    [[], true],
    [['--lenient-version'], false],
  ])('with %j rejects a 1.0 method without the A2A-Version header: %s', async (flags, isRejected) => {
    const agent = await modules.serve('examples/echo.js', flags);
    const response = await fetch(agent.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} }),
    });
    expect('error' in ((await response.json()) as object)).toBe(isRejected);
  });

  it('serves an export named agent', async () => {
    const file = modules.write(
      'named.mjs',
      agentModule('() => "hi"').replace('export default', 'export const agent ='),
    );
    expect((await connect((await modules.serve(file)).url).card()).name).toBe('Tester');
  });

  it('serves a remote agent and rejects --store for it', async () => {
    const { url } = await modules.serve('examples/echo.js');
    const file = modules.write(
      'proxy.mjs',
      `import { connect } from 'dragoman'; export default connect('${url}');`,
    );
    await using agent = connect((await modules.serve(file)).url);
    const task = (await agent.send(textMessage('hello'))) as Task;
    expect(task.artifacts?.[0]?.parts).toEqual([{ text: 'You said: hello' }]);
    const rejected = await runDragoman(['serve', file, '--store', 'memory']).ended;
    expect(rejected.stderr).toMatch(/manages its tasks itself/);
    expect(rejected.code).toBe(2);
  });

  it('starts and prints a warning when a remote agent is not available yet', async () => {
    const { port, close } = await occupyPort();
    await close();
    const text = `import { connect } from 'dragoman'; export default connect('http://127.0.0.1:${port}', { maxRetries: 0 });`;
    const agent = await modules.serve(modules.write('absent.mjs', text));
    await agent.prints(/Ctrl-C/);
    expect(agent.stderr).toMatch(/^warning: The card of the agent is not available yet: .+\n$/);
    expect((await fetch(`${agent.url}/healthz`)).status).toBe(200);
    expect((await agent.stop()).code).toBe(0);
  });

  it('keeps the task store that the module configures', async () => {
    const file = join(modules.directory, 'own.db');
    const module = modules.write(
      'own.mjs',
      `import { defineAgent } from 'dragoman';
       import { sqliteTaskStore } from '${new URL('../../../dist/store/sqlite.js', import.meta.url).href}';
       export default defineAgent({ name: 'Own', description: 'Has a task store', process: () => 'stored' },
         { taskStore: await sqliteTaskStore({ file: ${JSON.stringify(file)} }) });`,
    );
    const first = await modules.serve(module);
    const { id } = (await connect(first.url).send(textMessage('x'))) as Task;
    await first.stop();
    const second = await modules.serve(module);
    expect((await connect(second.url).getTask({ id })).status.state).toBe('completed');
  });

  it('serves an agent that the module wrapped, and writes exceptions of the wrapper with their stack', async () => {
    const agent = await modules.serve(
      modules.write(
        'wrapped.mjs',
        `import { defineAgent, withInterceptor } from 'dragoman';
         const agent = defineAgent({ name: 'Inner', description: 'Repeats', process: ({ text }) => text });
         const wrapped = withInterceptor(agent, {
           async send(request, call, next) {
             if (request.message.parts[0].text === 'fail') throw new RangeError('wrapper detail');
             return { ...(await next(request, call)), metadata: { wrapped: true } };
           },
         });
         export default { ...wrapped, card: async () => ({ ...(await agent.card()), name: 'Outer' }) };`,
      ),
    );
    const remote = connect(agent.url);
    expect((await remote.card()).name).toBe('Outer');
    expect(((await remote.send('hi')) as Task).metadata).toEqual({ wrapped: true });
    await expect(remote.send('fail')).rejects.not.toThrow('wrapper detail');
    await agent.prints(/RangeError: wrapper detail\n\s+at .*wrapped\.mjs:5:/, 'stderr');
  });

  it('prints the text of a streamed answer once', async () => {
    const words = `async function* ({ text }) { for (const word of text.split(' ')) yield word + ' '; }`;
    const agent = await modules.serve(modules.write('words.mjs', agentModule(words)));
    const text = Array.from({ length: 40 }, (_, index) => `w${index}`).join(' ');
    for (const flags of [[], ['--stream'], ['--a2a-version', '0.1']]) {
      const { stdout } = await runDragoman(['send', '-a', agent.url, text, ...flags]).ended;
      expect(stdout.match(/^Text:$/gm)).toEqual(['Text:']);
      expect(stdout).toContain(`\n  ${text}`);
    }
  });

  it('defaults to 4000, or to any free port if 4000 is in use', async () => {
    // Other processes may use port 4000 at any time. Of two servers, at least one finds it in use.
    const ports: string[] = [];
    for (const agent of [
      runDragoman(['serve', 'examples/echo.js']),
      runDragoman(['serve', 'examples/echo.js']),
    ]) {
      modules.running.push(agent);
      const [, port = ''] = await agent.prints(/^listening on http:\/\/127\.0\.0\.1:(\d+)\n/);
      if (port !== '4000')
        await agent.prints(new RegExp(`Port 4000 is in use; using port ${port}`), 'stderr');
      ports.push(port);
    }
    expect(new Set(ports).size).toBe(2);
  });

  it('keeps serving after stdout is closed', async () => {
    const agent = await modules.serve('examples/echo.js');
    agent.process.stdout?.destroy();
    expect((await connect(agent.url).card()).name).toBe('Echo');
    expect((await agent.stop()).code).toBe(0);
  });

  it('exits with 0 on SIGINT', async () => {
    const agent = await modules.serve('examples/echo.js');
    await agent.prints(/Ctrl-C/);
    expect((await agent.stop('SIGINT')).code).toBe(0);
  });

  it('stores tasks in a SQLite file between runs', async () => {
    const store = ['--store', `sqlite:${join(modules.directory, 'tasks.db')}`];
    const first = await modules.serve('examples/echo.js', store);
    const { id } = (await connect(first.url).send(textMessage('remember'))) as Task;
    expect((await first.stop()).code).toBe(0);
    const second = await modules.serve('examples/echo.js', store);
    await second.prints(/tasks {3}in .*tasks\.db/);
    const task = await connect(second.url).getTask({ id });
    expect(task.artifacts?.[0]?.parts).toEqual([{ text: 'You said: remember' }]);
  });

  it('exits immediately on the second signal', async () => {
    const slow = `async function* ({ signal }) {
      yield 'started';
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    }`;
    const agent = await modules.serve(modules.write('slow.mjs', agentModule(slow)));
    // A blocking request delays the graceful shutdown.
    const waiting = connect(agent.url, { maxRetries: 0 })
      .send(textMessage('x'))
      .then(
        () => 'completed',
        () => 'aborted',
      );
    for (;;) {
      const { tasks } = await connect(agent.url).listTasks({});
      if (tasks.length > 0) break;
    }
    agent.process.kill('SIGTERM');
    await refusesConnections(agent.url);
    expect((await agent.stop('SIGINT')).code).toBe(130);
    expect(await waiting).toBe('aborted');
  });
});

/** Resolves when the server refuses connections, which is when the shutdown has started. */
async function refusesConnections(url: string): Promise<void> {
  for (;;) {
    try {
      await fetch(`${url}/healthz`, { headers: { connection: 'close' } });
    } catch {
      return;
    }
  }
}
