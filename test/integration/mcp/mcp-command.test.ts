/** `dragoman bridge`: output, shutdown and usage errors. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runDragoman, cliEntry, serveModule } from '../../support/cli/run-command.ts';
import { runInProcess } from '../../support/cli/run-in-process.ts';
import { type McpClientKind, mcpClientKinds } from '../../support/bridge/mcp-clients.ts';
import { findFreePort } from '../../support/http/free-port.ts';

const [newest, , oldest] = mcpClientKinds as [McpClientKind, McpClientKind, McpClientKind];
const echo = new URL('../../../examples/echo.js', import.meta.url).pathname;

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
    const url = `http://127.0.0.1:${await findFreePort()}`;
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
