/** Agents of every A2A version behind one MCP server: the built command over stdio, the library over HTTP. */
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bridgeAgents } from '../../../src/bridge/index.ts';
import { serveMcp } from '../../../src/bridge/mcp/server/serve-mcp.ts';
import { connect } from '../../../src/client/index.ts';
import { serve } from '../../../src/server/index.ts';
import { type Started, start02, start03, start13 } from '../../interop/official-servers.ts';
import { sampleAgent } from '../../interop/sample-agent.ts';
import { cliEntry } from '../../support/cli/run-command.ts';
import { type McpClientKind, mcpClientKinds, type TestMcpClient } from '../../support/bridge/mcp-clients.ts';
import { respondJson, startRawServer } from '../../support/http/raw-server.ts';

/** Starts a raw 0.1 agent: echoes text, requires input for `ask`, and works on `slow` until it is canceled. */
async function start01(): Promise<Started> {
  const tasks = new Map<string, any>();
  const held = new Map<string, { id: unknown; response: ServerResponse }>();
  return await startRawServer((request, response, url) => {
    if (request.path === '/.well-known/agent.json') {
      respondJson(response, {
        name: 'Raw 0.1',
        description: 'Supports A2A 0.1',
        url,
        version: '1.0.0',
        capabilities: { streaming: false, pushNotifications: false },
        authentication: { schemes: [] },
        skills: [{ id: 'echo', name: 'Echo', description: 'Says it back' }],
      });
      return;
    }
    const { id, method, params } = request.json ?? {};
    const respond = (result: unknown, to = response, requestId: unknown = id): void =>
      respondJson(to, { jsonrpc: '2.0', id: requestId, result });
    const task = (state: string, more: object = {}) => {
      const created = { id: params.id, sessionId: params.sessionId ?? 's', status: { state }, ...more };
      tasks.set(params.id, created);
      return created;
    };
    if (method === 'tasks/send') {
      const [{ text }] = params.message.parts;
      const message = { role: 'agent', parts: [{ type: 'text', text: 'Which one?' }] };
      if (text === 'ask')
        respond({ ...task('input-required'), status: { state: 'input-required', message } });
      else if (text === 'slow') held.set(params.id, { id, response });
      else
        respond(
          task('completed', { artifacts: [{ name: 'answer', index: 0, parts: [{ type: 'text', text }] }] }),
        );
    } else if (method === 'tasks/cancel') {
      const canceled = task('canceled');
      respond(canceled);
      const waiting = held.get(params.id);
      if (waiting) respond(canceled, waiting.response, waiting.id);
    } else if (method === 'tasks/get' && tasks.has(params.id)) respond(tasks.get(params.id));
    else
      respondJson(response, { jsonrpc: '2.0', id, error: { code: -32_001, message: 'Task not found' } }, 200);
  });
}

async function startOwn(): Promise<Started> {
  const agent = sampleAgent();
  const server = await serve(agent);
  return {
    url: server.url,
    async close() {
      await server.stop(0);
      await agent.close();
    },
  };
}

const names = ['raw_0_1', 'sdk_0_2', 'sdk_0_3', 'sdk_1_3', 'ours'] as const;
let agents: Started[];

beforeAll(async () => {
  agents = await Promise.all([start01(), start02(), start03(), start13(), startOwn()]);
});
afterAll(async () => {
  await Promise.all(agents.map((agent) => agent.close()));
});

const [newest, , oldest] = mcpClientKinds as [McpClientKind, McpClientKind, McpClientKind];

describe.each([
  { transport: 'stdio', kind: newest },
  { transport: 'http', kind: oldest },
])('one MCP server over $transport', ({ transport, kind }) => {
  let client: TestMcpClient;
  const closers: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    const flags = agents.flatMap(({ url }, index) => ['--agent', `${names[index]}=${url}`]);
    const target =
      transport === 'http'
        ? { url: await startHttp() }
        : { args: [cliEntry, 'bridge', ...flags, '--mcp', 'stdio'] };
    client = await kind.connect(target, {
      elicit: () => ({ action: 'accept', content: { answer: 'that one' } }),
    });
  });
  afterAll(async () => {
    await client.close();
    for (const close of closers.toReversed()) await close();
  });

  async function startHttp(): Promise<string> {
    const remotes = agents.map(({ url }) => connect(url));
    const bridge = await bridgeAgents(
      remotes.map((agent, index) => ({ agentName: names[index] ?? '', agent })),
    );
    const running = await serveMcp(bridge, { http: {} });
    closers.push(
      () => Promise.all(remotes.map((remote) => remote.close())),
      () => bridge.close(),
      () => running.close(),
    );
    return running.url ?? '';
  }

  it('lists the tools of all agents', async () => {
    const listed = await client.tools();
    expect(listed.map(({ name }) => name)).toEqual([
      ...names.map((name) => `${name}_echo`),
      'provide_required_input',
    ]);
  });

  it.each(names)('calls, provides input to and cancels %s', async (name) => {
    const tool = `${name}_echo`;
    const echoed = await client.call(tool, { prompt: `hello ${name}` });
    expect(echoed.structuredContent).toMatchObject({ status: 'COMPLETED', message: `hello ${name}` });
    const completed = await client.call(tool, { prompt: 'ask' });
    expect(completed.structuredContent).toMatchObject({ status: 'COMPLETED', message: 'that one' });
    const controller = new AbortController();
    const calling = client.call(tool, { prompt: 'slow' }, { signal: controller.signal });
    // The abort may arrive before or after the start of the task; the call must end in both cases.
    controller.abort('enough');
    await expect(calling).rejects.toThrow();
  });

  it('keeps the results of 100 concurrent calls apart', async () => {
    const calls = Array.from({ length: 100 }, (_, index) => ({
      tool: `${names[index % names.length]}_echo`,
      prompt: `word ${index}`,
    }));
    const results = await Promise.all(calls.map(({ tool, prompt }) => client.call(tool, { prompt })));
    expect(results.map(({ structuredContent }) => structuredContent.message)).toEqual(
      calls.map(({ prompt }) => prompt),
    );
  });
});
