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
let folder: string;
const running: RunningCommand[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-cli-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(async () => {
  await Promise.all(running.splice(0).map((each) => each.stop('SIGKILL')));
});

/** Writes a module into the folder; what it imports is found from this checkout. */
function write(name: string, text: string): string {
  const file = join(folder, name);
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

const say = (text: string): SendRequest => ({
  message: { messageId: crypto.randomUUID(), role: 'user', parts: [{ text }] },
});

const agentThat = (body: string) => `import { defineAgent } from 'dragoman';
export default defineAgent({ name: 'Tester', description: 'Is tested', process: ${body} });`;

describe('dragoman', () => {
  it('prints its version without loading what it does not need', async () => {
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
    expect(stderr).not.toMatch(/dist\/(server|client|engine|ledger|dialects)\/|undici|picocolors/);
  });

  it.each([
    ['--help', /Commands:[^]*serve/],
    ['serve --help', /Examples:[^]*sqlite:tasks\.db[^]*defineAgent/],
  ])('explains itself: %s', async (args, expected) => {
    const { code, stdout, stderr } = await runDragoman(args.split(' ')).ended;
    expect(stdout).toMatch(expected);
    expect(stderr).toBe('');
    expect(code).toBe(0);
  });

  it.each([
    ['', /Usage: dragoman/],
    ['sevre x.js', /unknown command 'sevre'[^]*Did you mean serve/],
    ['sevre --help', /unknown command 'sevre'[^]*Did you mean serve/],
    ['help sevre', /unknown command 'sevre'[^]*Did you mean serve/],
    ['serve', /missing required argument 'module'/],
    ['serve examples/echo.js --prot 1', /unknown option '--prot'[^]*--port/],
    ['serve examples/echo.js --port 70000', /number from 0 .* to 65535/],
    ['serve examples/echo.js -o yaml', /text, json/],
    ['serve no/such/file.js', /there is no file .*no\/such\/file\.js\n {2}Give the path/],
    ['serve examples', /is a folder/],
    [
      'serve examples/up/caravan.yaml',
      /cannot run .*caravan\.yaml\n {2}A script of rules is started by dragoman mock/,
    ],
    ['serve examples/echo.js --store postgres', /"postgres" is no place for tasks\n.*sqlite:FILE/],
    ['serve examples/echo.js --store sqlite:', /"sqlite:" is no place for tasks/],
    ['serve examples/echo.js --base-path echo', /begins with a slash/],
    ['serve examples/echo.js --public-url example.com', /--public-url https:/],
    ['serve examples/echo.js --host 192.0.2.1', /192\.0\.2\.1 is no address of this machine\n.*--host/],
  ])('says what is wrong with: %s', async (args, expected) => {
    const { code, stdout, stderr } = await runDragoman(args.split(' ').filter((arg) => arg !== '')).ended;
    expect(stderr).toMatch(expected);
    expect(stdout).toBe('');
    expect(code).toBe(2);
  });

  it.each([
    ['nothing.mjs', 'export const answer = 42;', 2, /exports no agent\n {2}It exports answer\./],
    ['draft.mjs', 'export default { process() {} };', 2, /wrap it, as in `export default defineAgent/],
    [
      'broken.mjs',
      "throw new TypeError('no luck');",
      1,
      /could not be loaded: TypeError: no luck\n {2}at .*broken\.mjs:1/,
    ],
    ['lost.mjs', "import 'no-such-package';", 1, /Cannot find package 'no-such-package'/],
  ])('says what is wrong in %s', async (name, text, exitCode, expected) => {
    const { code, stdout, stderr } = await runDragoman(['serve', write(name, text)]).ended;
    expect(stderr).toMatch(expected);
    expect(stdout).toBe('');
    expect(code).toBe(exitCode);
  });

  it('fails with the reason when the store cannot be opened', async () => {
    const { code, stderr } = await runDragoman([
      'serve',
      'examples/echo.js',
      '--store',
      `sqlite:${folder}/no/x.db`,
    ]).ended;
    expect(stderr).toMatch(/Cannot open the task store file .*no\/x\.db/);
    expect(code).toBe(1);
  });
});

describe('dragoman serve', () => {
  it('prints where it listens, then commands that work when pasted into a shell', async () => {
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
    expect(agent.stdout, 'no colours where nobody looks').not.toContain('\u001b');
  });

  it('colours the summary when asked to, and never the first line', async () => {
    const agent = await serve('examples/echo.js', [], { env: { FORCE_COLOR: '1', NO_COLOR: '' } });
    await agent.prints(/Ctrl-C/);
    expect(agent.stdout).toMatch(/^listening on http:\/\/127\.0\.0\.1:\d+\n/);
    expect(agent.stdout).toContain('\u001b[1mEcho');
    const plain = await serve('examples/echo.js', [], { env: { FORCE_COLOR: '1', NO_COLOR: '1' } });
    await plain.prints(/Ctrl-C/);
    expect(plain.stdout).not.toContain('\u001b');
  });

  it('tells programs in one line of JSON', async () => {
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

  it('gives the public address in the card', async () => {
    const agent = await serve('examples/echo.js', ['--public-url', 'https://agents.example.com/echo']);
    const card = (await (await fetch(`${agent.url}/.well-known/agent-card.json`)).json()) as { url: string };
    expect(card.url).toBe('https://agents.example.com/echo');
  });

  it.each([
    [[], true],
    [['--lenient-version'], false],
  ])('with %j refuses a method of 1.0 without its version: %s', async (flags, isRefused) => {
    const agent = await serve('examples/echo.js', flags);
    const response = await fetch(agent.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} }),
    });
    expect('error' in ((await response.json()) as object)).toBe(isRefused);
  });

  it('takes an export named agent', async () => {
    const file = write(
      'named.mjs',
      agentThat('() => "hi"').replace('export default', 'export const agent ='),
    );
    expect((await connect((await serve(file)).url).card()).name).toBe('Tester');
  });

  it('passes on an agent that lives elsewhere, which keeps its own tasks', async () => {
    const { url } = await serve('examples/echo.js');
    const file = write('proxy.mjs', `import { connect } from 'dragoman'; export default connect('${url}');`);
    await using agent = connect((await serve(file)).url);
    const task = (await agent.send(say('hello'))) as Task;
    expect(task.artifacts?.[0]?.parts).toEqual([{ text: 'You said: hello' }]);
    const refused = await runDragoman(['serve', file, '--store', 'memory']).ended;
    expect(refused.stderr).toMatch(/keeps its tasks itself/);
    expect(refused.code).toBe(2);
  });

  it('serves on when an agent that lives elsewhere is not up yet', async () => {
    const { port, close } = await occupy();
    await close();
    const text = `import { connect } from 'dragoman'; export default connect('http://127.0.0.1:${port}', { retries: 0 });`;
    const agent = await serve(write('absent.mjs', text));
    await agent.prints(/Ctrl-C/);
    expect(agent.stderr).toMatch(/^warn: The agent shows no card yet: .+\n$/);
    expect((await fetch(`${agent.url}/healthz`)).status).toBe(200);
    expect((await agent.stop()).code).toBe(0);
  });

  it('keeps tasks in a file from one run to the next', async () => {
    const store = ['--store', `sqlite:${join(folder, 'tasks.db')}`];
    const first = await serve('examples/echo.js', store);
    const { id } = (await connect(first.url).send(say('remember'))) as Task;
    expect((await first.stop()).code).toBe(0);
    const second = await serve('examples/echo.js', store);
    await second.prints(/tasks {3}in .*tasks\.db/);
    const task = await connect(second.url).getTask({ id });
    expect(task.artifacts?.[0]?.parts).toEqual([{ text: 'You said: remember' }]);
  });

  it('leaves an agent on the ledger that it brought', async () => {
    const file = join(folder, 'own.db');
    const module = write(
      'own.mjs',
      `import { defineAgent } from 'dragoman';
       import { sqliteLedger } from '${new URL('../../../dist/ledger/sqlite.js', import.meta.url).href}';
       export default defineAgent({ name: 'Own', description: 'Has a ledger', process: () => 'kept' },
         { ledger: await sqliteLedger({ file: ${JSON.stringify(file)} }) });`,
    );
    const first = await serve(module);
    const { id } = (await connect(first.url).send(say('x'))) as Task;
    await first.stop();
    const second = await serve(module);
    expect((await connect(second.url).getTask({ id })).status.state).toBe('completed');
  });

  it('logs in one line why an agent failed, and keeps it from the caller', async () => {
    const agent = await serve(
      write(
        'failing.mjs',
        agentThat(`() => { throw new RangeError('too\\nfar', { cause: new Error('hill') }); }`),
      ),
    );
    const task = (await connect(agent.url).send(say('go'))) as Task;
    expect(task.status.state).toBe('failed');
    expect(JSON.stringify(task)).not.toContain('hill');
    await agent.prints(/\n/, 'stderr');
    expect(agent.stderr).toBe(
      `error: Process function failed (task ${task.id}): RangeError: too far: hill\n`,
    );
  });
});

describe('the port', () => {
  it('that is taken is named, with a way out', async () => {
    const { port, close } = await occupy();
    const { code, stdout, stderr } = await runDragoman(['serve', 'examples/echo.js', '--port', `${port}`])
      .ended;
    await close();
    expect(stderr).toMatch(new RegExp(`port ${port} on 127\\.0\\.0\\.1 is in use\\n.*--port 0`));
    expect(stdout).toBe('');
    expect(code).toBe(2);
  });

  it('is 4000 by default, or any free port if 4000 is in use', async () => {
    // Other processes may use port 4000 at any time. Of two servers, at least one finds it in use.
    const ports: string[] = [];
    for (const agent of [
      runDragoman(['serve', 'examples/echo.js']),
      runDragoman(['serve', 'examples/echo.js']),
    ]) {
      running.push(agent);
      const [, port = ''] = await agent.prints(/^listening on http:\/\/127\.0\.0\.1:(\d+)\n/);
      if (port !== '4000')
        await agent.prints(new RegExp(`port 4000 is in use, so this is port ${port}`), 'stderr');
      ports.push(port);
    }
    expect(new Set(ports).size).toBe(2);
  });
});

describe('stopping', () => {
  const slow = agentThat(`async function* ({ signal }) {
    yield 'begun';
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
  }`);

  it.each(['SIGINT', 'SIGTERM'] as const)('ends gracefully on %s, open streams included', async (signal) => {
    const agent = await serve(write('slow.mjs', slow));
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
    expect(text, 'ends with a whole frame').toMatch(/\n\n$/);
  });

  it('ends at once on the second signal', async () => {
    const agent = await serve(write('slow.mjs', slow));
    // A request that waits for its task holds the first signal up.
    const waiting = connect(agent.url, { maxRetries: 0 })
      .send(say('x'))
      .then(
        () => 'answered',
        () => 'cut',
      );
    for (;;) {
      const { tasks } = await connect(agent.url).listTasks({});
      if (tasks.length > 0) break;
    }
    agent.process.kill('SIGTERM');
    await refusesConnections(agent.url);
    expect((await agent.stop('SIGINT')).code).toBe(130);
    expect(await waiting).toBe('cut');
  });

  it('goes on serving when nobody reads its output any more', async () => {
    const agent = await serve('examples/echo.js');
    agent.process.stdout?.destroy();
    expect((await connect(agent.url).card()).name).toBe('Echo');
    expect((await agent.stop()).code).toBe(0);
  });
});

async function occupy(): Promise<{ port: number; close: () => Promise<void> }> {
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

/** Asks until nobody answers, which is when the server has begun to stop. */
async function refusesConnections(url: string): Promise<void> {
  for (;;) {
    try {
      await fetch(`${url}/healthz`, { headers: { connection: 'close' } });
    } catch {
      return;
    }
  }
}
