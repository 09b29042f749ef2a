/** One trace from a client through a gateway, a mesh, two agents and an MCP server to a webhook. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-node';
import { describe, expect, it } from 'vitest';
import { bridge } from '../../../src/bridge/bridge.ts';
import { mcpAgent } from '../../../src/bridge/mcp/client/mcp-agent.ts';
import { serveMcp } from '../../../src/bridge/mcp/server/serve-mcp.ts';
import { connect, type ConnectOptions } from '../../../src/client/index.ts';
import { defineAgent } from '../../../src/engine/index.ts';
import { readGatewayConfig } from '../../../src/gateway/config/read-gateway-config.ts';
import { runGateway } from '../../../src/gateway/run-gateway.ts';
import { serve } from '../../../src/server/node/serve.ts';
import type { Agent } from '../../../src/protocol/agent.ts';
import { closeAfterEach } from '../../support/close-after-each.ts';
import { expectTask, userRequest } from '../../support/engine/conversation.ts';
import { TestWebhook } from '../../support/push/test-webhook.ts';
import { recordSpans } from '../../support/tracing/span-recorder.ts';

const recorder = recordSpans();
const open = closeAfterEach();

async function start(agent: Agent): Promise<string> {
  const server = await serve(agent);
  open.push({ close: () => server.stop(0) });
  return server.url;
}

function at(url: string, options: ConnectOptions = {}) {
  const agent = connect(url, options);
  open.push(agent);
  return agent;
}

const push = { egress: { allowLoopback: true } };

/** Starts an agent that answers and delivers notifications. */
const startWorker = () =>
  start(
    defineAgent(
      {
        name: 'Worker',
        description: 'Answers',
        pushNotifications: true,
        process: async ({ text }) => `You said: ${text}`,
      },
      { push },
    ),
  );

function traceIdsOf(spans: readonly ReadableSpan[]): Set<string> {
  return new Set(spans.map((span) => span.spanContext().traceId));
}

describe('one trace', () => {
  it.each(['JSONRPC', 'HTTP+JSON', 'GRPC'] as const)(
    'leads over %s from a client through a gateway and a mesh to two agents and a webhook',
    async (transport) => {
      const webhook = await new TestWebhook().start();
      open.push({ close: () => webhook.stop() });
      const worker = at(await startWorker(), { transports: [transport] });
      const configuration = { pushConfig: { url: webhook.url } };
      const relay = defineAgent({
        name: 'Relay',
        description: 'Asks the worker',
        process: async ({ text }) => {
          expectTask(await worker.send({ ...userRequest(text), configuration }));
        },
      });
      const gateway = await runGateway(
        readGatewayConfig(
          `
listen: 0
mesh: { url: "memory:one-trace-${transport}", namespace: test, card_interval_seconds: 1 }
agents:
  Relay: { url: "${await start(relay)}", expose: [mesh] }
  entry: { mesh: Relay }
`,
          join(tmpdir(), 'dragoman.yaml'),
          {},
        ),
      );
      open.push({ close: () => gateway.stop(0) });
      const client = at(`${gateway.url}/agents/entry`, { transports: [transport] });
      await client.card();
      const { traceId } = await recorder.inRoot(() => client.send(userRequest('hi')));
      await webhook.waitUntil(() => webhook.accepted.some(({ text }) => text.includes('COMPLETED')));
      await expect
        .poll(() => recorder.spans.filter(({ name }) => name === 'push notification').length)
        .toBe(webhook.accepted.length);

      const delivery = recorder.spans.findLast(({ name }) => name === 'push notification') as ReadableSpan;
      const request = 'test/a2a/v1/agent/request/Relay';
      expect(recorder.pathOf(delivery)).toEqual([
        'root',
        'client SendMessage',
        'server SendMessage',
        `producer send ${request}`,
        `consumer process ${request}`,
        expect.stringMatching(/^client Send(Streaming)?Message$/),
        expect.stringMatching(/^server Send(Streaming)?Message$/),
        'invoke_agent Relay',
        'client SendMessage',
        'server SendMessage',
        'client push notification',
      ]);
      const replied = recorder.spans.find(({ name }) => /^process .*\/response\//.test(name)) as ReadableSpan;
      expect(recorder.pathOf(replied).slice(-3)).toEqual([
        `consumer process ${request}`,
        expect.stringMatching(/^producer send test\/a2a\/v1\/gateway\/response\/[^/]+$/),
        expect.stringMatching(/^consumer process test\/a2a\/v1\/gateway\/response\/[^/]+$/),
      ]);
      expect(traceIdsOf(recorder.spans)).toEqual(new Set([traceId]));
      const bindings = recorder.spans.map(({ attributes }) => attributes['a2a.protocol.binding']);
      expect(bindings.filter((each) => each === transport).length).toBeGreaterThanOrEqual(4);
      for (const { headers } of webhook.accepted) expect(headers.traceparent).toContain(traceId);
      expect(delivery.attributes).toMatchObject({
        'http.request.method': 'POST',
        'http.response.status_code': 200,
        'server.address': '127.0.0.1',
      });
    },
  );

  it('leads from an MCP client through an MCP server and its bridge to an agent', async () => {
    const skills = await bridge({ agentName: 'worker', agent: at(await startWorker()) });
    const server = await serveMcp(skills, { http: true });
    open.push({ close: () => server.close() });
    const agent = await mcpAgent({ url: server.url ?? '' });
    open.push({ close: async () => agent.close?.() });
    const [{ id: skillId } = { id: '' }] = (await agent.card()).skills;
    const message = { ...userRequest('hi').message, metadata: { skillId } };
    const { traceId } = await recorder.inRoot(() => agent.send({ message }));
    const run = await recorder.one('invoke_agent Worker');
    const path = recorder.pathOf(run);
    expect(path[0]).toBe('root');
    expect(path.slice(2)).toEqual([
      `client tools/call ${skillId}`,
      `server tools/call ${skillId}`,
      expect.stringMatching(/^execute_tool worker\//),
      expect.stringMatching(/^client Send(Streaming)?Message$/),
      expect.stringMatching(/^server Send(Streaming)?Message$/),
      'invoke_agent Worker',
    ]);
    expect(run.spanContext().traceId).toBe(traceId);
  });
});
