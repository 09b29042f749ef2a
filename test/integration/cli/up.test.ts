import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ClientFactory as ClientFactory0_3, JsonRpcTransportFactory as JsonRpc0_3 } from 'sdk-0.3/client';
import { TaskState } from 'sdk-1.3';
import { type Client, ClientFactory, JsonRpcTransportFactory, RestTransportFactory } from 'sdk-1.3/client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { collect, say } from '../../interop/sdk-1.3-messages.ts';
import { runDragoman, repositoryRoot, type RunningCommand } from '../../support/cli/run-command.ts';
import { runInProcess } from '../../support/cli/run-in-process.ts';
import { findAgent, readSummary, type UpSummary } from '../../support/cli/up-summary.ts';
import { readSseFrames } from '../../support/http/sse-frames.ts';
import { mcpClientKinds } from '../../support/bridge/mcp-clients.ts';
import { httpGet, httpOpen, callRpc } from '../../support/http/http-calls.ts';

describe('dragoman up', () => {
  let running: RunningCommand;
  let summary: UpSummary;
  beforeAll(async () => {
    running = runDragoman(['up', '-o', 'json']);
    summary = await readSummary(running);
  });
  afterAll(() => running.stop());

  it('prints one line of JSON with -o json', () => {
    expect(running.stdout.trimEnd().split('\n')).toHaveLength(1);
    expect(summary).toMatchObject({
      console: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/\?token=.{16,}$/),
      gateway: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      mcp: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/),
      mesh: { url: 'memory:', namespace: 'bazaar' },
      agents: [
        { name: 'interpreter', url: `${summary.gateway}/agents/interpreter`, isOnMesh: true },
        { name: 'caravan', url: `${summary.gateway}/agents/caravan`, onlyVersion: '0.1', isOnMesh: true },
      ],
    });
    expect(summary.try).toHaveLength(3);
  });

  it('starts one agent that supports only 0.1', async () => {
    const { from } = findAgent(summary, 'caravan');
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
  ])('official 1.0 client over $transport', ({ transport, factory }) => {
    let client: Client;
    beforeAll(async () => {
      const factories = new ClientFactory({ transports: [factory], preferredTransports: [transport] });
      client = await factories.createFromUrl(`${findAgent(summary, 'caravan').url}/`);
    });

    it('calls the 0.1 agent', async () => {
      expect(client.protocolVersion).toBe('1.0');
      const task: any = await client.sendMessage(say('hello'));
      expect(task.status).toMatchObject({
        state: TaskState.TASK_STATE_COMPLETED,
        message: {
          parts: [{ content: { $case: 'text', value: expect.stringContaining('Welcome, traveller') } }],
        },
      });
    });

    it('streams the chunks of the 0.1 agent', async () => {
      const events = await collect(client.sendMessageStream(say('timetable')));
      const pieces = events.filter(({ $case }) => $case === 'artifactUpdate').map(({ value }) => value);
      const text = pieces.flatMap(({ artifact }) => artifact.parts).map(({ content }) => content.value);
      expect(text.join('')).toBe('06:00  Samarkand\n07:30  Aleppo\n09:00  Isfahan\n16:00  Palmyra\n');
      expect(pieces.length).toBeGreaterThan(1);
      expect(events.at(-1)?.value.status.state).toBe(TaskState.TASK_STATE_COMPLETED);
    });

    it('answers input-required and receives an artifact', async () => {
      const interrupted: any = await client.sendMessage(say('book Samarkand'));
      expect(interrupted.status.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
      const { id: taskId, contextId } = interrupted;
      const done: any = await client.sendMessage(say('Friday', { taskId, contextId }));
      expect(done.status.state).toBe(TaskState.TASK_STATE_COMPLETED);
      expect(done.artifacts.at(-1)).toMatchObject({
        name: 'ticket.json',
        parts: [{ content: { $case: 'data', value: { to: 'Samarkand', day: 'Friday' } } }],
      });
    });

    it('receives a failed task', async () => {
      const task: any = await client.sendMessage(say('book Atlantis'));
      expect(task.status.state).toBe(TaskState.TASK_STATE_FAILED);
    });
  });

  it('serves the official 0.3 client', async () => {
    const factory = new ClientFactory0_3({
      transports: [new JsonRpc0_3()],
      preferredTransports: ['JSONRPC'],
    });
    const client = await factory.createFromUrl(`${findAgent(summary, 'caravan').url}/`);
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

  it('serves 0.1 clients for both agents', async () => {
    const params = (text: string) => ({
      id: crypto.randomUUID(),
      message: { role: 'user', parts: [{ type: 'text', text }] },
    });
    const { result } = await callRpc(
      findAgent(summary, 'interpreter').url,
      'tasks/send',
      params('say hello in Turkish'),
    );
    expect(result).toMatchObject({
      status: { state: 'completed' },
      artifacts: [{ parts: [{ type: 'text', text: '“merhaba”' }] }],
    });
    const body = { jsonrpc: '2.0', id: 1, method: 'tasks/sendSubscribe', params: params('timetable') };
    const frames = await readSseFrames(await httpOpen(findAgent(summary, 'caravan').url, body));
    expect(frames.at(-1)?.data.result).toMatchObject({ status: { state: 'completed' }, final: true });
    expect(frames.filter(({ data }) => data?.result.artifact).length).toBeGreaterThan(1);
  });

  it('starts a module agent that requests input and returns text, CSV and PNG', async () => {
    const { url } = findAgent(summary, 'interpreter');
    const send = async (text: string, more: object = {}): Promise<any> => {
      const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...more };
      return (await callRpc(url, 'SendMessage', { message }, '1.0')).result.task;
    };
    const interrupted = await send('say thank you');
    expect(interrupted.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const reply = { taskId: interrupted.id, contextId: interrupted.contextId };
    expect(await send('Klingon', reply)).toMatchObject({ status: { state: 'TASK_STATE_INPUT_REQUIRED' } });
    expect(await send('German please', reply)).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ parts: [{ text: '“danke”' }] }],
    });
    const [lines, table] = (await send('phrasebook Italian')).artifacts;
    const phrases = [
      'hello – ciao',
      'good morning – buongiorno',
      'thank you – grazie',
      'goodbye – arrivederci',
    ];
    expect(lines.parts).toEqual([{ text: phrases.map((phrase) => `${phrase}\n`).join('') }]);
    expect(table).toMatchObject({ parts: [{ mediaType: 'text/csv', filename: 'italian.csv' }] });
    const rows = Buffer.from(table.parts[0].raw, 'base64').toString();
    expect(rows).toMatch(/^english,italian\nhello,ciao\n(?:[\w ]+,[\w ]+\n){3}$/);
    const [card] = (await send('postcard from Venice')).artifacts;
    expect(card.parts[0]).toMatchObject({ mediaType: 'image/png', filename: 'postcard.png' });
    const bytes = Buffer.from(card.parts[0].raw, 'base64');
    expect(bytes.subarray(1, 4).toString('latin1')).toBe('PNG');
    expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([320, 200]);
  });

  it.each(mcpClientKinds)('exposes the skills as MCP tools to $name', async (kind) => {
    const client = await kind.connect({ url: summary.mcp ?? '' });
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

  it('serves the console with all agents and the recorded traffic', async () => {
    const { origin, searchParams } = new URL(summary.console);
    const headers = { authorization: `Bearer ${searchParams.get('token')}` };
    expect((await httpGet(`${origin}/api/agents`)).status).toBe(401);
    const { json } = await httpGet(`${origin}/api/agents`, headers);
    const urls = summary.agents.flatMap(({ url, from }) => [url, from]).sort();
    expect(json.map(({ url }: { url: string }) => url).sort()).toEqual(urls);
    const { text } = await httpGet(`${origin}/api/traffic/file`, headers);
    expect(text).toContain('tasks/sendSubscribe');
    expect(text).toContain('SendStreamingMessage');
  });

  it('prints example commands that work', async () => {
    const [send = '', chat = '', curl = ''] = summary.try;
    const words = send.replace(/^npx dragoman /, '').split(' ');
    const sent = await runInProcess(words);
    expect(sent).toMatchObject({ code: 0, stdout: expect.stringContaining('Samarkand') });
    const chatting = runDragoman(chat.replace(/^npx dragoman /, '').split(' '));
    chatting.process.stdin?.end('say hello in French\n');
    expect((await chatting.ended).stdout).toContain('bonjour');
    expect((await httpGet(curl.replace('curl -s ', ''))).json).toMatchObject({ name: 'Caravan' });
  });
});

describe('dragoman up -c', () => {
  let directory: string;
  const started: RunningCommand[] = [];
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'dragoman-up-'));
  });
  afterEach(async () => {
    for (const each of started.splice(0)) await each.stop();
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  const writeConfig = (text: string): void => writeFileSync(join(directory, 'dragoman.yaml'), text);
  const up = (text: string, ...flags: string[]): RunningCommand => {
    writeConfig(text);
    const running = runDragoman(['up', '-c', 'dragoman.yaml', ...flags], { cwd: directory });
    started.push(running);
    return running;
  };
  const echo = `agents:\n  echo: { module: ${join(repositoryRoot, 'examples/echo.js')} }\n`;
  const ports = 'listen: 0\nconsole: false\n';
  const greet = (words: string) =>
    `agent: { name: Greeter, description: Greets }\notherwise: { then: [{ complete: ${words} }] }\n`;
  const callEcho = async (url: string): Promise<string> => {
    const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hi' }] };
    return JSON.stringify(await callRpc(url, 'SendMessage', { message }, '1.0'));
  };

  it('reloads changed files and keeps the configuration when a file is invalid', async () => {
    writeFileSync(join(directory, 'greeter.yaml'), greet('good day'));
    const both = `${ports}${echo}  greeter: { script: greeter.yaml }\n`;
    const running = up(`${ports}${echo}`, '-o', 'json');
    const { gateway } = await readSummary(running);
    writeFileSync(join(directory, 'dragoman.yaml'), both);
    await running.prints(/Reloaded dragoman\.yaml: \+greeter\n/, 'stderr');
    expect(await callEcho(`${gateway}/agents/greeter`)).toContain('good day');
    writeFileSync(join(directory, 'greeter.yaml'), greet('good night'));
    await running.prints(/Reloaded \S*greeter\.yaml\n/, 'stderr');
    expect(await callEcho(`${gateway}/agents/greeter`)).toContain('good night');
    writeFileSync(join(directory, 'dragoman.yaml'), `${both}lisen: 1\n`);
    await running.prints(/the previous configuration stays active/, 'stderr');
    expect(running.stderr).toMatch(/dragoman\.yaml:\d+:1: lisen: unknown key/);
    expect(await callEcho(`${gateway}/agents/echo`)).toContain('You said: hi');
    writeFileSync(join(directory, 'dragoman.yaml'), `listen: 4321\nconsole: false\n${echo}`);
    await running.prints(/-greeter; changes of listen take effect after a restart/, 'stderr');
    expect((await httpGet(`${gateway}/agents`)).json.agents).toHaveLength(1);
  });

  it.each([
    [
      'the file',
      'agents:\n  a: { modul: x.js }\n',
      /^error: Invalid file: dragoman\.yaml\n[^]*^ {2}dragoman\.yaml:2:8: agents\.a\.modul: [^]*\nhint: Fix/m,
    ],
    ['a script', 'agents:\n  a: { script: wrong.yaml }\n', /wrong\.yaml:1:1: rulez: /],
  ])('exits with 2 and prints the position of an error in %s', async (_what, text, place) => {
    writeFileSync(join(directory, 'wrong.yaml'), 'rulez: []\n');
    writeConfig(text);
    const { code, stdout, stderr } = await runInProcess(['up', '-c', 'dragoman.yaml'], { cwd: directory });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(place);
  });

  it('validates the file with --check without starting', async () => {
    writeConfig(`${ports}${echo}`);
    const check = ['up', '-c', 'dragoman.yaml', '--check'];
    expect(await runInProcess(check, { cwd: directory })).toEqual({
      code: 0,
      stdout: 'dragoman.yaml is valid: 1 agent\n',
      stderr: '',
    });
  });

  it('exits with 2 when the file does not exist', async () => {
    const { code, stderr } = await runInProcess(['up', '-c', 'gone.yaml'], { cwd: directory });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^error: File not found: \S*gone\.yaml\n/);
  });
});
