import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import packageJson from '../../../package.json' with { type: 'json' };
import { connect } from '../../../src/client/connect.ts';
import type { Task } from '../../../src/protocol/task.ts';
import { cliEntry, runDragoman, runNode } from '../../support/cli/run-command.ts';
import { runInProcess } from '../../support/cli/run-in-process.ts';
import { agentModule, textMessage, useTemporaryModules } from '../../support/cli/temporary-modules.ts';
import { occupyPort } from '../../support/http/occupied-port.ts';

const run = promisify(execFile);
const modules = useTemporaryModules();

describe('dragoman', () => {
  it('prints the version without loading other modules', async () => {
    const hooks = `data:text/javascript,${encodeURIComponent(`
      import { writeSync } from 'node:fs';
      export async function load(url, context, next) { writeSync(2, url + '\\n'); return next(url, context); }`)}`;
    const register = `data:text/javascript,${encodeURIComponent(
      `import { register } from 'node:module'; register(${JSON.stringify(hooks)});`,
    )}`;
    const { code, stdout, stderr } = await runNode(['--import', register, cliEntry, '--version']).ended;
    expect(stdout).toBe(`${packageJson.version}\n`);
    expect(code).toBe(0);
    expect(stderr).toContain('dist/cli/main.js');
    expect(stderr).not.toMatch(/dist\/(server|client|engine|store|dialects)\/|undici|picocolors/);
  });

  it.each([
    ['--help', /Commands:[^]*serve/],
    ['serve --help', /Examples:[^]*sqlite:tasks\.db[^]*defineAgent/],
  ])('prints the help of %s on standard output', async (args, expected) => {
    const { code, stdout, stderr } = await runInProcess(args.split(' '));
    expect(stdout).toMatch(expected);
    expect(stderr).toBe('');
    expect(code).toBe(0);
  });

  it.each([
    ['', /Usage: dragoman/],
    [
      'sevre x.js',
      /^error: Unknown command 'sevre'\nhint: Did you mean serve\? Run dragoman --help for usage\.\n$/,
    ],
    ['serve examples/echo.js --prot 1', /^error: Unknown option '--prot'\nhint: Did you mean --port\?/],
    ['serve no/such/file.js', /^error: File not found: .*no\/such\/file\.js\nhint: Pass the path/],
  ])('exits with 2 and a hint for: dragoman %s', async (args, expected) => {
    const { code, stdout, stderr } = await runInProcess(args.split(' ').filter((arg) => arg !== ''));
    expect(stderr).toMatch(expected);
    expect(stdout).toBe('');
    expect(code).toBe(2);
  });

  it.each([
    [
      'broken.mjs',
      "throw new TypeError('no luck');",
      1,
      /^error: Cannot load .*broken\.mjs: TypeError: no luck\n {2}at .*broken\.mjs:1/,
    ],
  ])('reports the error in the module %s', async (name, text, exitCode, expected) => {
    const { code, stdout, stderr } = await runDragoman(['serve', modules.write(name, text)]).ended;
    expect(stderr).toMatch(expected);
    expect(stdout).toBe('');
    expect(code).toBe(exitCode);
  });
});

describe('dragoman serve', () => {
  it('prints its URL first, then working shell commands', async () => {
    const agent = await modules.serve('examples/echo.js', [], { env: { CI: '1', FORCE_COLOR: '' } });
    await agent.prints(/Ctrl-C/);
    const [first, ...rest] = agent.stdout.split('\n');
    expect(first).toMatch(/^listening on http:\/\/127\.0\.0\.1:\d+$/);
    expect(rest.join('\n')).toContain(`${agent.url}/.well-known/agent-card.json`);
    const commands = rest.filter((line) => line.includes('curl '));
    expect(commands).toHaveLength(3);
    for (const command of commands) {
      const { stdout } = await run('sh', ['-c', command]);
      expect(stdout).toContain('You said: hello');
    }
    expect(agent.stdout, 'no colors without a terminal').not.toContain('\u001b');
  });

  it('prints one line of JSON with -o json', async () => {
    const agent = runDragoman([
      'serve',
      'examples/echo.js',
      '--port',
      '0',
      '-o',
      'json',
      '--base-path',
      '/echo/',
    ]);
    modules.running.push(agent);
    const [, url = ''] = await agent.prints(/^listening on (\S+)\n/, 'stderr');
    const [document = ''] = await agent.prints(/^.*\n$/);
    const summary = JSON.parse(document) as { url: string; card: string; versions: string[] };
    expect(summary).toEqual({
      url: `${url}/echo`,
      card: `${url}/echo/.well-known/agent-card.json`,
      versions: ['1.0', '0.3', '0.2', '0.1'],
    });
    expect((await fetch(summary.card)).status).toBe(200);
  });

  it('logs the error of a process function with its stack and hides it from the client', async () => {
    const agent = await modules.serve(
      modules.write(
        'failing.mjs',
        agentModule(`() => { throw new RangeError('too\\nfar', { cause: new Error('hill') }); }`),
      ),
    );
    const task = (await connect(agent.url).send(textMessage('go'))) as Task;
    expect(task.status.state).toBe('failed');
    expect(JSON.stringify(task)).not.toContain('hill');
    await agent.prints(/Caused by: Error: hill\n\s+at /, 'stderr');
    const [first, ...stack] = agent.stderr.split('\n');
    expect(first).toBe(`error: Process function failed (task ${task.id}): RangeError: too far: hill`);
    expect(stack.slice(0, 2)).toEqual(['RangeError: too', 'far']);
    expect(stack[2]).toMatch(/^\s+at .*failing\.mjs:2:/);
  });
});

describe('dragoman serve --port', () => {
  it('exits with 2 when the port is in use', async () => {
    const { port, close } = await occupyPort();
    const { code, stdout, stderr } = await runDragoman(['serve', 'examples/echo.js', '--port', `${port}`])
      .ended;
    await close();
    expect(stderr).toMatch(new RegExp(`error: Port ${port} on 127\\.0\\.0\\.1 is in use\\nhint: .*--port 0`));
    expect(stdout).toBe('');
    expect(code).toBe(2);
  });
});

describe('dragoman serve shutdown', () => {
  const slow = agentModule(`async function* ({ signal }) {
    yield 'started';
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
  }`);

  it('exits with 0 on SIGTERM and closes open streams', async () => {
    const agent = await modules.serve(modules.write('slow.mjs', slow), ['--drain', '100ms']);
    const response = await fetch(`${agent.url}/message:stream`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify({ message: { messageId: '1', role: 'ROLE_USER', parts: [{ text: 'x' }] } }),
    });
    const [code, text] = await Promise.all([
      (async () => {
        await agent.prints(/Ctrl-C/);
        return (await agent.stop('SIGTERM')).code;
      })(),
      response.text(),
    ]);
    expect(code).toBe(0);
    expect(text, 'ends with a complete SSE frame').toMatch(/\n\n$/);
  });
});
