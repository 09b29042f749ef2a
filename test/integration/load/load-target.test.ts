import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { status } from '../../../src/engine/agent-output.ts';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import { createLoadPlan, type LoadPlanOptions } from '../../../src/load/load-plan.ts';
import type { LoadReport } from '../../../src/load/load-report.ts';
import { type LoadTargetOptions, openLoadTarget } from '../../../src/load/load-target.ts';
import { runLoad } from '../../../src/load/run-load.ts';
import type { ProtocolVersion, Transport } from '../../../src/protocol/card.ts';
import { type RunningServer, serve } from '../../../src/server/node/serve.ts';
import { tapServer } from '../../../src/tap/recorders/tap-server.ts';
import { TrafficLog } from '../../../src/tap/traffic-log.ts';

const trafficLog = new TrafficLog();
let calls = 0;
const agent = defineAgent({
  name: 'Busy',
  description: 'Replies',
  async *process({ text }) {
    calls++;
    if (text === 'fail') yield status('failed', 'no');
    else yield `You said: ${text}`;
  },
});
let server: RunningServer;

beforeAll(async () => {
  server = await serve(agent, tapServer(trafficLog, { name: 'busy' }));
});
afterAll(async () => {
  await server.stop(0);
  await agent.close();
});

/** Runs four requests of two clients. */
async function measure(
  target: Partial<LoadTargetOptions>,
  options: LoadPlanOptions = {},
): Promise<LoadReport & { endpoint: string }> {
  const plan = createLoadPlan({ connections: 2, requests: 4, warmUp: 0, ...target, ...options });
  const opened = await openLoadTarget(server.url, { ...plan, ...target });
  try {
    const { version, transport } = opened.description;
    return { ...(await runLoad(plan, opened.perform)), endpoint: `${version}/${transport}` };
  } finally {
    await opened.close();
  }
}

describe('load run', () => {
  it.each<[ProtocolVersion, Transport]>([
    ['1.0', 'JSONRPC'],
    ['1.0', 'HTTP+JSON'],
    ['1.0', 'GRPC'],
    ['0.3', 'JSONRPC'],
    ['0.1', 'JSONRPC'],
  ])('measures every operation over %s %s', async (version, transport) => {
    const client = { versions: [version], transports: [transport] };
    for (const operation of ['send', 'stream', 'get'] as const) {
      const report = await measure({ operation, client });
      expect(report, operation).toMatchObject({
        endpoint: `${version}/${transport}`,
        requests: 4,
        succeeded: 4,
        errors: [],
      });
      expect(report.latency?.max).toBeGreaterThan(0);
      expect(report.events > 0, operation).toBe(operation === 'stream');
    }
  });

  it('keeps the rate of an open loop', async () => {
    const report = await measure({ operation: 'send' }, { rate: 1_000, connections: 50 });
    expect(report).toMatchObject({ loop: 'open', requests: 4, succeeded: 4, unsent: 0 });
  });

  it('sends one request per count: retries would hide failures', async () => {
    const before = calls;
    const report = await measure({ operation: 'send', text: 'fail' });
    expect(report.errors).toEqual([{ reason: 'TASK_STATE_FAILED', count: 4, example: 'no' }]);
    expect(calls - before).toBe(4);
    const streamed = await measure({ operation: 'stream', text: 'fail' });
    expect(streamed).toMatchObject({ succeeded: 0, errors: [{ reason: 'TASK_STATE_FAILED', count: 4 }] });
  });

  it('is named load in traffic records', async () => {
    trafficLog.clear();
    await measure({ operation: 'send' });
    const names = trafficLog.recordsAfter().filter(({ decoded }) => decoded?.operation === 'send');
    expect(new Set(names.filter(({ kind }) => kind === 'request').map(({ from }) => from))).toEqual(
      new Set(['load']),
    );
  });

  it('counts the errors of the agent by reason', async () => {
    const report = await measure({ operation: 'get', taskId: 'none' });
    expect(report).toMatchObject({ succeeded: 0, errors: [{ reason: 'TASK_NOT_FOUND', count: 4 }] });
  });
});

describe('target of a load run', () => {
  const options = { operation: 'send', connections: 1 } as const;

  it.each([
    'http://192.0.2.1',
    'https://agents.example.com',
    'http://localhost.example.com',
    'http://0.0.0.0:1',
  ])('is not %s', async (url) => {
    await expect(openLoadTarget(url, options)).rejects.toThrow(/is not on this machine/);
  });

  it('is not an interface on another host in the card of a local agent', async () => {
    const card = {
      protocolVersion: '0.3.0',
      name: 'Elsewhere',
      description: 'Elsewhere',
      version: '1',
      url: 'https://agents.example.com/a2a',
      preferredTransport: 'JSONRPC',
      capabilities: {},
      defaultInputModes: [],
      defaultOutputModes: [],
      skills: [],
    };
    const cardServer = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(card));
    });
    await once(cardServer.listen(0, '127.0.0.1'), 'listening');
    const { port } = cardServer.address() as AddressInfo;
    await expect(openLoadTarget(`http://127.0.0.1:${port}`, options)).rejects.toMatchObject({
      reason: 'INVALID_PARAMS',
    });
    cardServer.close();
  });

  it('must respond before the run', async () => {
    await expect(openLoadTarget('http://127.0.0.1:1', options)).rejects.toMatchObject({
      reason: 'UNAVAILABLE',
    });
  });
});
