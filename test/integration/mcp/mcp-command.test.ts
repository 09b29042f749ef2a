/** `dragoman bridge`: output, shutdown and usage errors. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runDragoman, cliEntry, serveModule } from '../../support/cli/run-command.ts';
import { runInProcess } from '../../support/cli/run-in-process.ts';
import { type McpClientKind, mcpClientKinds } from '../../support/bridge/mcp-clients.ts';
import { respondJson, startRawServer } from '../../support/http/raw-server.ts';

const [newest, , oldest] = mcpClientKinds as [McpClientKind, McpClientKind, McpClientKind];
const echo = new URL('../../../examples/echo.js', import.meta.url).pathname;

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('dragoman bridge', () => {
  let agent: Awaited<ReturnType<typeof serveModule>>;
  beforeAll(async () => {
    agent = await serveModule(echo);
  });
  afterAll(() => agent.stop());

  it('writes only MCP messages to stdout and exits when stdin closes', async () => {
    const running = runDragoman(['bridge', '--agent', `echo=${agent.url}`, '--mcp', 'stdio']);
    const send = (message: object): void => {
      running.process.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    };
    const clientInfo = { name: 'test', version: '1' };
    send({
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo },
    });
    send({ method: 'notifications/initialized' });
    send({ id: 2, method: 'tools/call', params: { name: 'echo_echo', arguments: { prompt: 'hello' } } });
    await running.prints(/"id":2/);
    await running.prints(/listening on standard input and output\n {2}echo\/echo\n/, 'stderr');
    running.process.stdin?.end();
    const { code, stdout } = await running.ended;
    expect(code).toBe(0);
    const messages = stdout
      .trim()
      .split('\n')
      .map((each) => JSON.parse(each));
    expect(messages.map(({ jsonrpc, id }) => [jsonrpc, id])).toEqual([
      ['2.0', 1],
      ['2.0', 2],
    ]);
    expect(messages[0].result.protocolVersion).toBe('2025-06-18');
    expect(messages[1].result.content).toEqual([{ type: 'text', text: 'You said: hello' }]);
  });

  it('prints URL and actions with -o json, and rejects it with --mcp stdio', async () => {
    const args = ['bridge', '-a', `echo=${agent.url}`, '-o', 'json', '--mcp'];
    const running = runDragoman([...args, 'http', '--port', '0']);
    const [line] = await running.prints(/^\{.*\}\n/);
    expect(JSON.parse(line)).toEqual({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/),
      actions: ['echo/echo', 'provide_required_input'],
    });
    expect((await running.stop()).stdout).toBe(line);
    const { code, stderr } = await runInProcess([...args, 'stdio']);
    expect(stderr).toContain('-o json cannot be used with --mcp stdio');
    expect(code).toBe(2);
  });

  it('serves HTTP with a token from the environment until SIGINT', async () => {
    const running = runDragoman(
      ['bridge', '-a', `echo=${agent.url}`, '--mcp', 'http', '--port', '0', '--client-token-env', 'T'],
      {
        env: { T: 'sesame' },
      },
    );
    const [, url = ''] = await running.prints(/^listening on (\S+)\n/, 'stderr');
    await expect(oldest.connect({ url })).rejects.toThrow(/401|bearer/i);
    const client = await oldest.connect({ url, token: 'sesame' });
    const { content } = await client.call('echo_echo', { prompt: 'hello' });
    expect(content).toEqual([{ type: 'text', text: 'You said: hello' }]);
    await client.close();
    const { code, stdout } = await running.stop('SIGINT');
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  });

  it('starts the agent of --command and stops it on exit', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const command = `${process.execPath} ${cliEntry} serve ${echo} --port ${new URL(url).port}`;
    const flags = ['bridge', '--command', command, '--command-url', `echo=${url}`, '--mcp', 'stdio'];
    const client = await newest.connect({ args: [cliEntry, ...flags] });
    const { content } = await client.call('echo_echo', { prompt: 'hello' });
    expect(content).toEqual([{ type: 'text', text: 'You said: hello' }]);
    await client.close();
    await expect
      .poll(() =>
        fetch(url).then(
          () => 'there',
          () => 'gone',
        ),
      )
      .toBe('gone');
  });

  it('starts the agents of a configuration file and reports errors with line and column', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'dragoman-'));
    const file = join(folder, 'bridge.yaml');
    const port = await freePort();
    const command = [process.execPath, cliEntry, 'serve', echo, '--port', String(port)];
    writeFileSync(
      file,
      `agents:\n  - agent_name: one\n    a2a_server_url: http://127.0.0.1:${port}\n    a2a_server_command: ${JSON.stringify(command)}\n`,
    );
    const client = await newest.connect({ args: [cliEntry, 'bridge', '--config', file, '--mcp', 'stdio'] });
    const { content } = await client.call('one_echo', { prompt: 'hello' });
    expect(content).toEqual([{ type: 'text', text: 'You said: hello' }]);
    await client.close();
    writeFileSync(file, 'agent_name: one\na2a_server_ulr: http://127.0.0.1\n');
    const { code, stderr } = await runInProcess(['bridge', '--config', file, '--mcp', 'stdio']);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`${file}:2:1: a2a_server_ulr`)]);
    rmSync(folder, { recursive: true });
  });

  it('sends credentials from the environment only to the agent', async () => {
    const card = {
      protocolVersion: '0.3.0',
      name: 'Guarded',
      description: 'Requires credentials',
      version: '1.0.0',
      capabilities: {},
      defaultInputModes: ['text/plain'],
      defaultOutputModes: ['text/plain'],
      skills: [{ id: 's', name: 'S', description: 'Does it', tags: [] }],
    };
    const agent = await startRawServer(({ path, json: body }, response, url) => {
      if (path === '/.well-known/agent-card.json') respondJson(response, { ...card, url });
      else {
        const message = {
          kind: 'message',
          role: 'agent',
          messageId: 'm',
          parts: [{ kind: 'text', text: 'in' }],
        };
        respondJson(response, { jsonrpc: '2.0', id: body?.id, result: message });
      }
    });
    const header = 'a=X-Key: key-${KEY}';
    const flags = [
      '--agent',
      `a=${agent.url}`,
      '--bearer-env',
      'a=TOKEN',
      '--header',
      header,
      '--mcp',
      'stdio',
    ];
    const env = { TOKEN: 'secret-token', KEY: 'secret-key', PATH: process.env.PATH ?? '' };
    const client = await oldest.connect({ args: [cliEntry, 'bridge', ...flags], env });
    const tools = await client.tools();
    const result = await client.call('a_s', { prompt: 'hello' });
    expect(result.content).toEqual([{ type: 'text', text: 'in' }]);
    expect(JSON.stringify([tools, result])).not.toContain('secret');
    const sent = agent.requests.find(({ json: body }) => body?.method === 'message/send');
    expect(sent?.headers).toMatchObject({ authorization: 'Bearer secret-token', 'x-key': 'key-secret-key' });
    await client.close();
    await agent.close();
  });

  it.each<[string, string[], RegExp]>([
    ['no agent', [], /error: Missing agent\nhint: Name an agent with --agent URL/],
    ['an invalid URL', ['--agent', 'weather'], /Invalid URL: weather/],
    ['a duplicate name', ['-a', 'a=http://x', '-a', 'a=http://y'], /Two agents have the same name/],
    [
      'a command without a URL',
      ['--command', 'node x.js'],
      /--command and --command-url must be used together/,
    ],
    [
      'a token that is not set',
      ['-a', 'http://x', '--bearer-env', 'NOT_SET_HERE'],
      /variable NOT_SET_HERE of --bearer-env is not set/,
    ],
    [
      'a header with an unset variable',
      ['-a', 'http://x', '--header', 'K: ${NOT_SET_HERE}'],
      /variable NOT_SET_HERE of --header is not set/,
    ],
    [
      'a header without an agent name',
      ['-a', 'a=http://x', '-a', 'b=http://y', '--header', 'K: v'],
      /--header needs the name of an agent/,
    ],
    ['an invalid --max-wait', ['-a', 'http://x', '--max-wait', 'long'], /Use a duration such as/],
  ])('exits with 2 and a hint for %s', async (_what, flags, expected) => {
    const { code, stdout, stderr } = await runInProcess(['bridge', ...flags, '--mcp', 'stdio']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(expected);
  });

  it('prints an example with --help', async () => {
    const { stdout } = await runInProcess(['bridge', '--help']);
    expect(stdout).toContain('dragoman bridge --agent https://weather.example.com --mcp stdio');
  });
});
