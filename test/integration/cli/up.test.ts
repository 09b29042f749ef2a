import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ClientFactory as ClientFactory0_3, JsonRpcTransportFactory as JsonRpc0_3 } from 'sdk-0.3/client';
import { TaskState } from 'sdk-1.3';
import { type Client, ClientFactory, JsonRpcTransportFactory, RestTransportFactory } from 'sdk-1.3/client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import packageJson from '../../../package.json' with { type: 'json' };
import { collect, say } from '../../interop/sdk-1.3-messages.ts';
import {
  runDragoman,
  cliEntry,
  runNode,
  repositoryRoot,
  type RunningCommand,
} from '../../support/cli/run-command.ts';
import { readSseFrames } from '../../support/http/sse-frames.ts';
import { mcpClientKinds } from '../../support/bridge/mcp-clients.ts';
import { httpGet, httpOpen, callRpc } from '../../support/http/http-calls.ts';

/** What `dragoman up -o json` says. */
interface Told {
  console: string;
  gateway: string;
  mcp?: string;
  mesh?: { url: string; namespace: string };
  agents: { name: string; url: string; from: string; speaks?: string; isOnMesh: boolean }[];
  try: string[];
}

async function toldBy(running: RunningCommand): Promise<Told> {
  const [line] = await running.prints(/^\{.*\}\n/);
  return JSON.parse(line) as Told;
}

const agentOf = ({ agents }: Told, name: string): Told['agents'][number] => {
  const found = agents.find((each) => each.name === name);
  if (!found) throw new Error(`There is no ${name}`);
  return found;
};

/** Whether anybody listens there. */
async function isFree(url: string): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(Number(new URL(url).port), '127.0.0.1');
    await once(server, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}

describe('dragoman up', () => {
  let running: RunningCommand;
  let told: Told;
  beforeAll(async () => {
    running = runDragoman(['up', '-o', 'json']);
    told = await toldBy(running);
  });
  afterAll(() => running.stop());

  it('tells a program in one line what there is', () => {
    expect(running.stdout.trimEnd().split('\n')).toHaveLength(1);
    expect(told).toMatchObject({
      console: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/\?token=.{16,}$/),
      gateway: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      mcp: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/),
      mesh: { url: 'memory:', namespace: 'bazaar' },
      agents: [
        { name: 'interpreter', url: `${told.gateway}/agents/interpreter`, isOnMesh: true },
        { name: 'caravan', url: `${told.gateway}/agents/caravan`, speaks: '0.1', isOnMesh: true },
      ],
    });
    expect(told.try).toHaveLength(3);
  });

  it('has one agent that understands 0.1 and nothing else', async () => {
    const { from } = agentOf(told, 'caravan');
    expect((await httpGet(`${from}/.well-known/agent-card.json`)).status).toBe(404);
    expect((await httpGet(`${from}/.well-known/agent.json`)).json).toMatchObject({
      name: 'Caravan',
      url: from,
    });
    expect(await callRpc(from, 'message/send', {})).toMatchObject({ error: { code: -32601 } });
    expect(await callRpc(from, 'SendMessage', {}, '1.0')).toMatchObject({ error: { code: -32601 } });
  });

  describe.each([
    { transport: 'JSONRPC', factory: new JsonRpcTransportFactory() },
    { transport: 'HTTP+JSON', factory: new RestTransportFactory() },
  ])('lets the official client of 1.0 over $transport', ({ transport, factory }) => {
    let client: Client;
    beforeAll(async () => {
      const factories = new ClientFactory({ transports: [factory], preferredTransports: [transport] });
      client = await factories.createFromUrl(`${agentOf(told, 'caravan').url}/`);
    });

    it('ask the agent of 0.1', async () => {
      expect(client.protocolVersion).toBe('1.0');
      const task: any = await client.sendMessage(say('hello'));
      expect(task.status).toMatchObject({
        state: TaskState.TASK_STATE_COMPLETED,
        message: {
          parts: [{ content: { $case: 'text', value: expect.stringContaining('Welcome, traveller') } }],
        },
      });
    });

    it('follow its stream, chunk by chunk', async () => {
      const events = await collect(client.sendMessageStream(say('timetable')));
      const pieces = events.filter(({ $case }) => $case === 'artifactUpdate').map(({ value }) => value);
      const text = pieces.flatMap(({ artifact }) => artifact.parts).map(({ content }) => content.value);
      expect(text.join('')).toBe('06:00  Samarkand\n07:30  Aleppo\n09:00  Isfahan\n16:00  Palmyra\n');
      expect(pieces.length).toBeGreaterThan(1);
      expect(events.at(-1)?.value.status.state).toBe(TaskState.TASK_STATE_COMPLETED);
    });

    it('answer its question and get a ticket', async () => {
      const asking: any = await client.sendMessage(say('book Samarkand'));
      expect(asking.status.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
      const { id: taskId, contextId } = asking;
      const done: any = await client.sendMessage(say('Friday', { taskId, contextId }));
      expect(done.status.state).toBe(TaskState.TASK_STATE_COMPLETED);
      expect(done.artifacts.at(-1)).toMatchObject({
        name: 'ticket.json',
        parts: [{ content: { $case: 'data', value: { to: 'Samarkand', day: 'Friday' } } }],
      });
    });

    it('see it fail', async () => {
      const task: any = await client.sendMessage(say('book Atlantis'));
      expect(task.status.state).toBe(TaskState.TASK_STATE_FAILED);
    });
  });

  it('lets the official client of 0.3 speak to it', async () => {
    const factory = new ClientFactory0_3({
      transports: [new JsonRpc0_3()],
      preferredTransports: ['JSONRPC'],
    });
    const client = await factory.createFromUrl(`${agentOf(told, 'caravan').url}/`);
    const parts = [{ kind: 'text' as const, text: 'hello' }];
    const message = {
      kind: 'message' as const,
      messageId: crypto.randomUUID(),
      role: 'user' as const,
      parts,
    };
    expect(await client.sendMessage({ message })).toMatchObject({
      kind: 'task',
      status: { state: 'completed', message: { parts: [{ text: expect.stringContaining('Welcome') }] } },
    });
  });

  it('lets callers of 0.1 speak to both', async () => {
    const params = (text: string) => ({
      id: crypto.randomUUID(),
      message: { role: 'user', parts: [{ type: 'text', text }] },
    });
    const { result } = await callRpc(
      agentOf(told, 'interpreter').url,
      'tasks/send',
      params('say hello in Turkish'),
    );
    expect(result).toMatchObject({
      status: { state: 'completed' },
      artifacts: [{ parts: [{ type: 'text', text: '“merhaba”' }] }],
    });
    const body = { jsonrpc: '2.0', id: 1, method: 'tasks/sendSubscribe', params: params('timetable') };
    const frames = await readSseFrames(await httpOpen(agentOf(told, 'caravan').url, body));
    expect(frames.at(-1)?.data.result).toMatchObject({ status: { state: 'completed' }, final: true });
    expect(frames.filter(({ data }) => data?.result.artifact).length).toBeGreaterThan(1);
  });

  it('has an agent written in code that asks, writes a table and paints', async () => {
    const { url } = agentOf(told, 'interpreter');
    const send = async (text: string, more: object = {}): Promise<any> => {
      const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...more };
      return (await callRpc(url, 'SendMessage', { message }, '1.0')).result.task;
    };
    const asking = await send('say thank you');
    expect(asking.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const answer = { taskId: asking.id, contextId: asking.contextId };
    expect(await send('Klingon', answer)).toMatchObject({ status: { state: 'TASK_STATE_INPUT_REQUIRED' } });
    expect(await send('German please', answer)).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ parts: [{ text: '“danke”' }] }],
    });
    const [lines, table] = (await send('phrasebook Italian')).artifacts;
    expect(lines.parts.map(({ text }: { text: string }) => text)).toEqual([
      'hello – ciao\n',
      'good morning – buongiorno\n',
      'thank you – grazie\n',
      'goodbye – arrivederci\n',
    ]);
    expect(table).toMatchObject({ parts: [{ mediaType: 'text/csv', filename: 'italian.csv' }] });
    const rows = Buffer.from(table.parts[0].raw, 'base64').toString();
    expect(rows).toMatch(/^english,italian\nhello,ciao\n(?:[\w ]+,[\w ]+\n){3}$/);
    const [card] = (await send('postcard from Venice')).artifacts;
    expect(card.parts[0]).toMatchObject({ mediaType: 'image/png', filename: 'postcard.png' });
    const bytes = Buffer.from(card.parts[0].raw, 'base64');
    expect(bytes.subarray(1, 4).toString('latin1')).toBe('PNG');
    expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([320, 200]);
  });

  it.each(mcpClientKinds)('shows the skills as tools to $name', async (kind) => {
    const client = await kind.connect({ url: told.mcp ?? '' });
    try {
      const names = (await client.tools()).map(({ name }) => name as string);
      const find = (part: string) => names.find((name) => name.includes(part)) ?? part;
      expect(find('timetable')).toMatch(/caravan/);
      const { content } = await client.call(find('timetable'), { prompt: 'timetable' });
      expect(JSON.stringify(content)).toContain('Samarkand');
      expect(names.some((name) => name.includes('postcard'))).toBe(true);
    } finally {
      await client.close();
    }
  });

  it('shows the console, which knows the agents and has seen what passed', async () => {
    const { origin, searchParams } = new URL(told.console);
    const headers = { authorization: `Bearer ${searchParams.get('token')}` };
    expect((await httpGet(`${origin}/api/agents`)).status).toBe(401);
    const { json } = await httpGet(`${origin}/api/agents`, headers);
    const urls = told.agents.flatMap(({ url, from }) => [url, from]).sort();
    expect(json.map(({ url }: { url: string }) => url).sort()).toEqual(urls);
    const { text } = await httpGet(`${origin}/api/wire/file`, headers);
    expect(text).toContain('tasks/sendSubscribe');
    expect(text).toContain('SendStreamingMessage');
  });

  it('tells commands that work', async () => {
    const [send = '', chat = '', curl = ''] = told.try;
    const words = send.replace(/^npx dragoman /, '').split(' ');
    const sent = await runDragoman(words).ended;
    expect(sent).toMatchObject({ code: 0, stdout: expect.stringContaining('Samarkand') });
    const chatting = runDragoman(chat.replace(/^npx dragoman /, '').split(' '));
    chatting.process.stdin?.end('say hello in French\n');
    expect((await chatting.ended).stdout).toContain('bonjour');
    expect((await httpGet(curl.replace('curl -s ', ''))).json).toMatchObject({ name: 'Caravan' });
  });
});

describe('dragoman up, when it ends,', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)(
    'lets go of everything within a second of %s, whoever is still listening',
    { retry: 2 },
    async (signal) => {
      const running = runDragoman(['up', '-o', 'json']);
      const told = await toldBy(running);
      const { origin, searchParams } = new URL(told.console);
      const headers = { authorization: `Bearer ${searchParams.get('token')}` };
      const wire = await fetch(`${origin}/api/wire`, { headers });
      const body = (text: string) => ({
        jsonrpc: '2.0',
        id: 1,
        method: 'SendStreamingMessage',
        params: { message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] } },
      });
      const stream = await httpOpen(agentOf(told, 'caravan').url, body('timetable'), {
        'a2a-version': '1.0',
      });
      const began = performance.now();
      const { code, stderr } = await running.stop(signal);
      expect(performance.now() - began).toBeLessThan(1_000);
      expect({ code, stderr: stderr.replaceAll(/info: port \d+ is in use.*\n/g, '') }).toEqual({
        code: 0,
        stderr: '',
      });
      for (const url of [told.gateway, told.console, told.mcp ?? '', ...told.agents.map(({ from }) => from)])
        expect(await isFree(url), url).toBe(true);
      await Promise.allSettled([wire.text(), stream.text()]);
    },
  );
});

describe('dragoman up, where something is missing,', () => {
  const started: RunningCommand[] = [];
  afterEach(async () => {
    for (const each of started.splice(0)) await each.stop();
  });

  it('uses free ports if the default ports are in use, and reports it', async () => {
    // Other processes may use the default ports at any time. Of two runs, at least one finds each port in use.
    const seen = new Set<string>();
    for (const running of [runDragoman(['up', '-o', 'json']), runDragoman(['up', '-o', 'json'])]) {
      started.push(running);
      const told = await toldBy(running);
      for (const [url, port, name] of [
        [told.gateway, '4000', 'the gateway'],
        [told.console, '4200', 'the console'],
      ] as const) {
        const actual = new URL(url ?? '').port;
        const note = `info: port ${port} is in use, so ${name} has another\n`;
        expect(running.stderr.includes(note)).toBe(actual !== port);
        seen.add(actual);
      }
    }
    expect(seen.size).toBe(4);
  });

  it('goes on without MCP where its library is not installed', async () => {
    const hooks = `export const resolve = (name, context, next) => {
      if (name.startsWith('@modelcontextprotocol/')) throw Object.assign(new Error(name), { code: 'ERR_MODULE_NOT_FOUND' });
      return next(name, context);
    }`;
    const url = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`;
    const register = `import { register } from 'node:module'; register(${JSON.stringify(url(hooks))});`;
    const running = runNode(['--import', url(register), cliEntry, 'up', '-o', 'json']);
    started.push(running);
    const told = await toldBy(running);
    expect(told.mcp).toBeUndefined();
    expect(running.stderr).toContain('info: no MCP before: npm install @modelcontextprotocol/server\n');
    expect((await httpGet(`${told.gateway}/agents`)).json.agents).toHaveLength(2);
  });
});

describe('dragoman up -c', () => {
  let folder: string;
  const started: RunningCommand[] = [];
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'dragoman-up-'));
  });
  afterEach(async () => {
    for (const each of started.splice(0)) await each.stop();
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const up = (text: string, ...flags: string[]): RunningCommand => {
    writeFileSync(join(folder, 'dragoman.yaml'), text);
    const running = runDragoman(['up', '-c', 'dragoman.yaml', ...flags], { cwd: folder });
    started.push(running);
    return running;
  };
  const echo = `agents:\n  echo: { module: ${join(repositoryRoot, 'examples/echo.js')} }\n`;
  const places = 'listen: 0\nconsole: false\n';
  const greet = (words: string) =>
    `agent: { name: Greeter, description: Greets }\notherwise: { then: [{ complete: ${words} }] }\n`;
  const answerOf = async (url: string): Promise<string> => {
    const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hi' }] };
    return JSON.stringify(await callRpc(url, 'SendMessage', { message }, '1.0'));
  };

  it("runs a person's own", async () => {
    writeFileSync(join(folder, 'greeter.yaml'), greet('good day'));
    const running = up(
      `${places}${echo}  greeter: { script: greeter.yaml, only_version: "0.3" }\n`,
      '-o',
      'json',
    );
    const told = await toldBy(running);
    expect(told).toMatchObject({ agents: [{ name: 'echo' }, { name: 'greeter', speaks: '0.3' }] });
    expect(told).not.toHaveProperty('console');
    expect(told).not.toHaveProperty('mcp');
    expect(await answerOf(agentOf(told, 'echo').url)).toContain('You said: hi');
    expect(await answerOf(agentOf(told, 'greeter').url)).toContain('good day');
  });

  it('takes over what changes, and leaves everything as it is where that is wrong', async () => {
    writeFileSync(join(folder, 'greeter.yaml'), greet('good day'));
    const both = `${places}${echo}  greeter: { script: greeter.yaml }\n`;
    const running = up(`${places}${echo}`, '-o', 'json');
    const { gateway } = await toldBy(running);
    writeFileSync(join(folder, 'dragoman.yaml'), both);
    await running.prints(/dragoman\.yaml was read again: \+greeter\n/, 'stderr');
    expect(await answerOf(`${gateway}/agents/greeter`)).toContain('good day');
    writeFileSync(join(folder, 'greeter.yaml'), greet('good night'));
    await running.prints(/greeter\.yaml was read again\n/, 'stderr');
    expect(await answerOf(`${gateway}/agents/greeter`)).toContain('good night');
    writeFileSync(join(folder, 'dragoman.yaml'), `${both}lisen: 1\n`);
    await running.prints(/everything stays as it was/, 'stderr');
    expect(running.stderr).toMatch(/dragoman\.yaml:\d+:1: lisen: unknown key/);
    expect(await answerOf(`${gateway}/agents/echo`)).toContain('You said: hi');
    writeFileSync(join(folder, 'dragoman.yaml'), `listen: 4321\nconsole: false\n${echo}`);
    await running.prints(/-greeter; what it says of listen takes effect after a restart/, 'stderr');
    expect((await httpGet(`${gateway}/agents`)).json.agents).toHaveLength(1);
  });

  it.each([
    ['the file', 'agents:\n  a: { modul: x.js }\n', /^dragoman\.yaml:2:8: agents\.a\./m],
    ['a script', 'agents:\n  a: { script: wrong.yaml }\n', /wrong\.yaml:1:1: rulez: /],
  ])('says where a mistake is in %s, and ends with 2', async (_what, text, place) => {
    writeFileSync(join(folder, 'wrong.yaml'), 'rulez: []\n');
    const { code, stdout, stderr } = await up(text).ended;
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(place);
  });

  it('checks a file without starting anything', async () => {
    expect(await up(`${places}${echo}`, '--check').ended).toEqual({
      code: 0,
      stdout: 'dragoman.yaml is right: 1 agent\n',
      stderr: '',
    });
  });

  it.each([
    ['the gateway', (port: number) => `listen: ${port}\nconsole: false\n`],
    ['MCP', (port: number) => `${places}bridge: { mcp: { port: ${port} } }\n`],
    ['the console', (port: number) => `listen: 0\nconsole: { port: ${port} }\n`],
  ])('says that a port is in use where one was asked for, for %s', async (what, wanting) => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const { code, stderr } = await up(`${wanting(port)}${echo}`).ended;
    server.close();
    expect(code).toBe(2);
    expect(stderr).toContain(`Port ${port} for ${what} is in use\n`);
    expect(stderr).toContain('Give it another in dragoman.yaml, or 0 for any free one.');
  });

  it('says what to do where there is no file', async () => {
    const { code, stderr } = await runDragoman(['up', '-c', 'gone.yaml'], { cwd: folder }).ended;
    expect(code).toBe(2);
    expect(stderr).toMatch(/there is no file \S*gone\.yaml\n/);
  });
});

describe('what dragoman up tells a person', () => {
  /** What differs from run to run, by names of its own. */
  const steady = (text: string): string =>
    text
      .replace(/(console\s+\S*http:\/\/127\.0\.0\.1:)\d+\/\?token=[\w-]+/, '$1CONSOLE/?token=TOKEN')
      .replace(/(MCP\s+\S*http:\/\/127\.0\.0\.1:)\d+/, '$1MCP')
      .replaceAll(/(http:\/\/127\.0\.0\.1:)\d+(?=\/agents\/|\s+in A2A)/g, '$1GATEWAY')
      .replaceAll(/(itself at http:\/\/127\.0\.0\.1:)\d+/g, '$1OWN')
      .replaceAll(/(curl -s http:\/\/127\.0\.0\.1:)\d+/g, '$1OWN')
      .replaceAll(/\n(?:\n {2}! port \d+ is in use.*)+/g, '')
      .replace('everything.\n\n\n', 'everything.\n\n')
      .replace(packageJson.version, 'VERSION');
  const toldWith = async (env: Record<string, string>): Promise<string> => {
    const running = runDragoman(['up'], { env });
    await running.prints(/Ctrl-C stops everything/);
    return (await running.stop()).stdout;
  };

  it('fits in 80 columns, without colours where nobody wants them', async () => {
    const text = await toldWith({ NO_COLOR: '1' });
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
    await expect(steady(text)).toMatchFileSnapshot('../../golden/cli/up.txt');
  });

  it('is the same in colours', async () => {
    const text = await toldWith({ FORCE_COLOR: '1', NO_COLOR: '' });
    expect(text).toContain('\u001b[1mDragoman is up');
    // oxlint-disable-next-line no-control-regex -- these are what is looked for
    const plain = text.replaceAll(/\u001b\[\d+m/g, '');
    await expect(steady(plain)).toMatchFileSnapshot('../../golden/cli/up.txt');
  });
});
