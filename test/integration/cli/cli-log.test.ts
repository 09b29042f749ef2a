import { afterEach, describe, expect, it } from 'vitest';
import { cliEntry, runNode, type RunningCommand, repositoryRoot } from '../../support/cli/run-command.ts';
import { httpGet, httpPost } from '../../support/http/http-calls.ts';

let running: RunningCommand | undefined;

afterEach(async () => {
  await running?.stop('SIGKILL');
  running = undefined;
});

async function serveEcho(...flags: string[]): Promise<{ agent: RunningCommand; url: string }> {
  // CI must not enable colors.
  const env = { CI: '1', FORCE_COLOR: undefined, NO_COLOR: undefined };
  const agent = runNode([cliEntry, 'serve', 'examples/echo.js', '--port', '0', ...flags], {
    cwd: repositoryRoot,
    env,
  });
  running = agent;
  const [, url = ''] = await agent.prints(/listening on (\S+)/);
  return { agent, url };
}

const send = {
  jsonrpc: '2.0',
  id: 1,
  method: 'SendMessage',
  params: { message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hi' }] } },
};
const headers = { 'a2a-version': '1.0', authorization: 'Bearer secret' };

describe('dragoman serve --log', () => {
  it('writes one JSON object per request with json', async () => {
    const { agent, url } = await serveEcho('--log', 'json');
    const { json } = await httpPost(url, send, headers);
    await agent.prints(/\n/, 'stderr');
    expect(JSON.parse(agent.stderr)).toEqual({
      level: 30,
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      msg: 'request',
      method: 'POST',
      path: '/',
      operation: 'send',
      version: '1.0',
      transport: 'JSONRPC',
      status: 200,
      outcome: 'OK',
      duration: expect.any(Number),
      client: '127.0.0.1',
      taskId: json.result.task.id,
    });
    expect(agent.stderr).not.toContain('secret');
  });

  it('writes one line per request with text', async () => {
    const { agent, url } = await serveEcho('--log', 'text');
    const { json } = await httpPost(url, send, headers);
    await agent.prints(/\n/, 'stderr');
    expect(agent.stderr).toMatch(
      new RegExp(`^200 send 1\\.0 JSONRPC \\d+ ms 127\\.0\\.0\\.1 task ${json.result.task.id}\\n$`),
    );
    await httpGet(`${url}/nowhere`);
    await agent.prints(/\n404/, 'stderr');
    expect(agent.stderr).toMatch(/\n404 NOT_FOUND GET \/nowhere \d+ ms 127\.0\.0\.1\n$/);
  });

  it('does not log requests by default without a terminal', async () => {
    const { agent, url } = await serveEcho();
    await httpPost(url, send, headers);
    expect((await agent.stop()).stderr).toBe('');
  });
});

describe('dragoman serve --metrics', () => {
  it('exposes metrics of the server and of the agent', async () => {
    const { url } = await serveEcho('--metrics');
    await httpPost(url, send, headers);
    const { text } = await httpGet(`${url}/metrics`);
    expect(text).toMatch(/dragoman_requests_total\{operation="send".*\} 1/);
    expect(text).toContain('dragoman_tasks_total{state="completed"} 1');
  });
});
