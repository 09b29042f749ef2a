import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import packageJson from '../../../package.json' with { type: 'json' };
import { connect } from '../../../src/client/connect.ts';
import type { SendRequest } from '../../../src/protocol/requests.ts';
import type { Task } from '../../../src/protocol/task.ts';
import {
  runDragoman,
  runNode,
  cliEntry,
  type CommandEnvironment,
  type RunningCommand,
  serveModule,
} from '../../support/cli/run-command.ts';

const run = promisify(execFile);
let directory: string;
const running: RunningCommand[] = [];

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'dragoman-cli-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));
afterEach(async () => {
  await Promise.all(running.splice(0).map((each) => each.stop('SIGKILL')));
});

/** Writes a module that imports Dragoman from dist/ of this checkout. */
function write(name: string, text: string): string {
  const file = join(directory, name);
  const dist = new URL('../../../dist/index.js', import.meta.url).href;
  writeFileSync(file, text.replace("'dragoman'", `'${dist}'`));
  return file;
}

async function serve(
  module: string,
  flags: string[] = [],
  place: CommandEnvironment = {},
): ReturnType<typeof serveModule> {
  const started = await serveModule(module, flags, place);
  running.push(started);
  return started;
}

const message = (text: string): SendRequest => ({
  message: { messageId: crypto.randomUUID(), role: 'user', parts: [{ text }] },
});

const agentModule = (body: string) => `import { defineAgent } from 'dragoman';
export default defineAgent({ name: 'Tester', description: 'Is tested', process: ${body} });`;

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
    const { code, stdout, stderr } = await runDragoman(args.split(' ')).ended;
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
    ['sevre --help', /^error: Unknown command 'sevre'\nhint: Did you mean serve\?/],
    ['help sevre', /^error: Unknown command 'sevre'\nhint: Did you mean serve\?/],
    ['serve', /^error: Missing required argument 'module'\nhint: Run dragoman serve --help for usage\.\n$/],
    ['serve examples/echo.js --prot 1', /^error: Unknown option '--prot'\nhint: Did you mean --port\?/],
    [
      'serve examples/echo.js --port 70000',
      /argument '70000' is invalid\nhint: Use a number from 0 .* to 65535\. Run/,
    ],
    ['serve examples/echo.js -o yaml', /\nhint: Allowed choices are text, json\./],
    [
      'completion tcsh',
      /value 'tcsh' is invalid for argument 'shell'\nhint: Allowed choices are bash, zsh, fish\./,
    ],
    ['serve no/such/file.js', /^error: File not found: .*no\/such\/file\.js\nhint: Pass the path/],
    ['serve examples', /is a directory/],
    [
      'serve examples/up/caravan.yaml',
      /cannot run .*caravan\.yaml\nhint: Start a mock script with dragoman mock/,
    ],
    ['serve examples/echo.js --store postgres', /^error: Invalid task store "postgres"\nhint: .*sqlite:FILE/],
    ['serve examples/echo.js --store sqlite:', /Invalid task store "sqlite:"/],
    ['serve examples/echo.js --base-path echo', /Invalid base path "echo"\nhint: Start it with a slash/],
    ['serve examples/echo.js --public-url example.com', /Invalid --public-url: example\.com/],
    ['serve examples/echo.js --host 192.0.2.1', /Cannot listen on 192\.0\.2\.1: .*\nhint: .*--host/],
  ])('exits with 2 and a hint for: dragoman %s', async (args, expected) => {
    const { code, stdout, stderr } = await runDragoman(args.split(' ').filter((arg) => arg !== '')).ended;
    expect(stderr).toMatch(expected);
    expect(stdout).toBe('');
    expect(code).toBe(2);
  });

  it.each([
    ['nothing.mjs', 'export const answer = 42;', 2, /exports no agent\nhint: It exports answer\./],
    ['draft.mjs', 'export default { process() {} };', 2, /wrap it, as in `export default defineAgent/],
    [
      'broken.mjs',
      "throw new TypeError('no luck');",
      1,
      /^error: Cannot load .*broken\.mjs: TypeError: no luck\n {2}at .*broken\.mjs:1/,
    ],
    ['lost.mjs', "import 'no-such-package';", 1, /Cannot find package 'no-such-package'/],
  ])('reports the error in the module %s', async (name, text, exitCode, expected) => {
    const { code, stdout, stderr } = await runDragoman(['serve', write(name, text)]).ended;
    expect(stderr).toMatch(expected);
    expect(stdout).toBe('');
    expect(code).toBe(exitCode);
  });

  it('exits with 1 when the task store cannot be opened', async () => {
    const { code, stderr } = await runDragoman([
      'serve',
      'examples/echo.js',
      '--store',
      `sqlite:${directory}/no/x.db`,
    ]).ended;
    expect(stderr).toMatch(/Cannot open the task store file .*no\/x\.db/);
    expect(code).toBe(1);
  });
});

describe('dragoman serve', () => {
  it('prints its URL first, then working shell commands', async () => {
    const agent = await serve('examples/echo.js', [], { env: { CI: '1', FORCE_COLOR: '' } });
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

  it('colors the summary with FORCE_COLOR, except the first line', async () => {
    const agent = await serve('examples/echo.js', [], { env: { FORCE_COLOR: '1', NO_COLOR: '' } });
    await agent.prints(/Ctrl-C/);
    expect(agent.stdout).toMatch(/^listening on http:\/\/127\.0\.0\.1:\d+\n/);
    expect(agent.stdout).toContain('\u001b[1mEcho');
    const plain = await serve('examples/echo.js', [], { env: { FORCE_COLOR: '1', NO_COLOR: '1' } });
    await plain.prints(/Ctrl-C/);
    expect(plain.stdout).not.toContain('\u001b');
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
    running.push(agent);
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

  it('writes --public-url to the card', async () => {
    const agent = await serve('examples/echo.js', ['--public-url', 'https://agents.example.com/echo']);
    const card = (await (await fetch(`${agent.url}/.well-known/agent-card.json`)).json()) as { url: string };
    expect(card.url).toBe('https://agents.example.com/echo');
  });

  it.each([
    [[], true],
    [['--lenient-version'], false],
  ])('with %j rejects a 1.0 method without the A2A-Version header: %s', async (flags, isRejected) => {
    const agent = await serve('examples/echo.js', flags);
    const response = await fetch(agent.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} }),
    });
    expect('error' in ((await response.json()) as object)).toBe(isRejected);
  });

  it('serves an export named agent', async () => {
    const file = write(
      'named.mjs',
      agentModule('() => "hi"').replace('export default', 'export const agent ='),
    );
    expect((await connect((await serve(file)).url).card()).name).toBe('Tester');
  });

  it('serves a remote agent and rejects --store for it', async () => {
    const { url } = await serve('examples/echo.js');
    const file = write('proxy.mjs', `import { connect } from 'dragoman'; export default connect('${url}');`);
    await using agent = connect((await serve(file)).url);
    const task = (await agent.send(message('hello'))) as Task;
    expect(task.artifacts?.[0]?.parts).toEqual([{ text: 'You said: hello' }]);
    const rejected = await runDragoman(['serve', file, '--store', 'memory']).ended;
    expect(rejected.stderr).toMatch(/manages its tasks itself/);
    expect(rejected.code).toBe(2);
  });

  it('starts and prints a warning when a remote agent is not available yet', async () => {
    const { port, close } = await occupyPort();
    await close();
    const text = `import { connect } from 'dragoman'; export default connect('http://127.0.0.1:${port}', { maxRetries: 0 });`;
    const agent = await serve(write('absent.mjs', text));
    await agent.prints(/Ctrl-C/);
    expect(agent.stderr).toMatch(/^warning: The card of the agent is not available yet: .+\n$/);
    expect((await fetch(`${agent.url}/healthz`)).status).toBe(200);
    expect((await agent.stop()).code).toBe(0);
  });

  it('stores tasks in a SQLite file between runs', async () => {
    const store = ['--store', `sqlite:${join(directory, 'tasks.db')}`];
    const first = await serve('examples/echo.js', store);
    const { id } = (await connect(first.url).send(message('remember'))) as Task;
    expect((await first.stop()).code).toBe(0);
    const second = await serve('examples/echo.js', store);
    await second.prints(/tasks {3}in .*tasks\.db/);
    const task = await connect(second.url).getTask({ id });
    expect(task.artifacts?.[0]?.parts).toEqual([{ text: 'You said: remember' }]);
  });

  it('keeps the task store that the module configures', async () => {
    const file = join(directory, 'own.db');
    const module = write(
      'own.mjs',
      `import { defineAgent } from 'dragoman';
       import { sqliteTaskStore } from '${new URL('../../../dist/store/sqlite.js', import.meta.url).href}';
       export default defineAgent({ name: 'Own', description: 'Has a task store', process: () => 'stored' },
         { taskStore: await sqliteTaskStore({ file: ${JSON.stringify(file)} }) });`,
    );
    const first = await serve(module);
    const { id } = (await connect(first.url).send(message('x'))) as Task;
    await first.stop();
    const second = await serve(module);
    expect((await connect(second.url).getTask({ id })).status.state).toBe('completed');
  });

  it('logs the error of a process function with its stack and hides it from the client', async () => {
    const agent = await serve(
      write(
        'failing.mjs',
        agentModule(`() => { throw new RangeError('too\\nfar', { cause: new Error('hill') }); }`),
      ),
    );
    const task = (await connect(agent.url).send(message('go'))) as Task;
    expect(task.status.state).toBe('failed');
    expect(JSON.stringify(task)).not.toContain('hill');
    await agent.prints(/Caused by: Error: hill\n\s+at /, 'stderr');
    const [first, ...stack] = agent.stderr.split('\n');
    expect(first).toBe(`error: Process function failed (task ${task.id}): RangeError: too far: hill`);
    expect(stack.slice(0, 2)).toEqual(['RangeError: too', 'far']);
    expect(stack[2]).toMatch(/^\s+at .*failing\.mjs:2:/);
  });

  it('serves an agent that the module wrapped, and writes exceptions of the wrapper with their stack', async () => {
    const agent = await serve(
      write(
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
    const agent = await serve(write('words.mjs', agentModule(words)));
    const text = Array.from({ length: 40 }, (_, index) => `w${index}`).join(' ');
    for (const flags of [[], ['--stream'], ['--a2a-version', '0.1']]) {
      const { stdout } = await runDragoman(['send', '-a', agent.url, text, ...flags]).ended;
      expect(stdout.match(/^Text:$/gm)).toEqual(['Text:']);
      expect(stdout).toContain(`\n  ${text}`);
    }
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

  it('defaults to 4000, or to any free port if 4000 is in use', async () => {
    // Other processes may use port 4000 at any time. Of two servers, at least one finds it in use.
    const ports: string[] = [];
    for (const agent of [
      runDragoman(['serve', 'examples/echo.js']),
      runDragoman(['serve', 'examples/echo.js']),
    ]) {
      running.push(agent);
      const [, port = ''] = await agent.prints(/^listening on http:\/\/127\.0\.0\.1:(\d+)\n/);
      if (port !== '4000')
        await agent.prints(new RegExp(`Port 4000 is in use; using port ${port}`), 'stderr');
      ports.push(port);
    }
    expect(new Set(ports).size).toBe(2);
  });
});

describe('dragoman serve shutdown', () => {
  const slow = agentModule(`async function* ({ signal }) {
    yield 'started';
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
  }`);

  it.each(['SIGINT', 'SIGTERM'] as const)('exits with 0 on %s and closes open streams', async (signal) => {
    const agent = await serve(write('slow.mjs', slow), ['--drain', '100ms']);
    const response = await fetch(`${agent.url}/message:stream`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify({ message: { messageId: '1', role: 'ROLE_USER', parts: [{ text: 'x' }] } }),
    });
    const [code, text] = await Promise.all([
      (async () => {
        await agent.prints(/Ctrl-C/);
        return (await agent.stop(signal)).code;
      })(),
      response.text(),
    ]);
    expect(code).toBe(0);
    expect(text, 'ends with a complete SSE frame').toMatch(/\n\n$/);
  });

  it('exits immediately on the second signal', async () => {
    const agent = await serve(write('slow.mjs', slow));
    // A blocking request delays the graceful shutdown.
    const waiting = connect(agent.url, { maxRetries: 0 })
      .send(message('x'))
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

  it('keeps serving after stdout is closed', async () => {
    const agent = await serve('examples/echo.js');
    agent.process.stdout?.destroy();
    expect((await connect(agent.url).card()).name).toBe('Echo');
    expect((await agent.stop()).code).toBe(0);
  });
});

async function occupyPort(): Promise<{ port: number; close: () => Promise<void> }> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
      }),
  };
}

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
