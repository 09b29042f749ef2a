/** `dragoman bridge`: JSON output, configuration file and credentials. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runDragoman, cliEntry, serveModule } from '../../support/cli/run-command.ts';
import { runInProcess } from '../../support/cli/run-in-process.ts';
import { type McpClientKind, mcpClientKinds } from '../../support/bridge/mcp-clients.ts';
import { findFreePort } from '../../support/http/free-port.ts';
import { respondJson, startRawServer } from '../../support/http/raw-server.ts';

const [newest, , oldest] = mcpClientKinds as [McpClientKind, McpClientKind, McpClientKind];
const echo = new URL('../../../examples/echo.js', import.meta.url).pathname;

describe('dragoman bridge', () => {
  it('prints URL and actions with -o json, and rejects it with --mcp stdio', async () => {
    const agent = await serveModule(echo);
    const args = ['bridge', '-a', `echo=${agent.url}`, '-o', 'json', '--mcp'];
    const running = runDragoman([...args, 'http', '--port', '0']);
    const [line] = await running.prints(/^\{.*\}\n/);
    expect(JSON.parse(line)).toEqual({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/),
      actions: ['echo/echo', 'provide_required_input'],
    });
    expect((await running.stop()).stdout).toBe(line);
    await agent.stop();
    const { code, stderr } = await runInProcess([...args, 'stdio']);
    expect(stderr).toContain('-o json cannot be used with --mcp stdio');
    expect(code).toBe(2);
  });

  it('starts the agents of a configuration file and reports errors with line and column', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'dragoman-'));
    const file = join(folder, 'bridge.yaml');
    const port = await findFreePort();
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
});
