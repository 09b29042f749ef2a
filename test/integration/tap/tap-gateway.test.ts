import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readGatewayConfig } from '../../../src/gateway/config/read-gateway-config.ts';
import { runGateway } from '../../../src/gateway/run-gateway.ts';
import { connectBroker } from '../../../src/mesh/brokers/connect-broker.ts';
import { serve } from '../../../src/server/node/serve.ts';
import { TrafficLog } from '../../../src/tap/index.ts';
import { tapBroker } from '../../../src/tap/recorders/tap-broker.ts';
import { sampleAgent } from '../../interop/sample-agent.ts';
import { closeAfterEach } from '../../support/close-after-each.ts';
import { request0_3, MeshTestClient } from '../../support/mesh/mesh-test-client.ts';
import { summarizeRecords, recordsIn, waitForRecord } from '../../support/tap/traffic-log.ts';
import { httpPost } from '../../support/http/http-calls.ts';

const open = closeAfterEach();

async function startAgent(options: Parameters<typeof serve>[1] = {}): Promise<string> {
  const server = await serve(sampleAgent(), options);
  open.push({ close: () => server.stop(0) });
  return server.url;
}

async function startGateway(text: string): Promise<{ log: TrafficLog; url: string }> {
  const log = new TrafficLog();
  const settings = readGatewayConfig(text, join(tmpdir(), 'dragoman.yaml'), {});
  const running = await runGateway(settings, { trafficLog: log });
  open.push({ close: () => running.stop(0) });
  return { log, url: running.url ?? '' };
}

/** Returns the lines of all records except cards. */
const summariesOf = (log: TrafficLog): string[] =>
  summarizeRecords(recordsIn(log).filter(({ decoded }) => decoded?.operation !== 'card'));

describe('runGateway with a traffic log', () => {
  it('records both sides of a translation, the principal and the losses', async () => {
    const old = await startAgent({ onlyVersion: '0.1' });
    const { log, url } = await startGateway(`
listen: 0
auth: { bearer: [{ token: secret-of-alice-1, principal: alice }] }
agents: { oldie: { url: "${old}", a2a_version: "0.1" } }
`);
    const message = {
      messageId: 'm',
      role: 'ROLE_USER',
      parts: [{ text: 'hello' }],
      extensions: ['urn:x'],
    };
    await httpPost(
      `${url}/agents/oldie/message:send`,
      { message },
      { 'a2a-version': '1.0', authorization: 'Bearer secret-of-alice-1' },
    );
    await waitForRecord(log, ({ kind, from }) => kind === 'response' && from === 'gateway');
    expect(summariesOf(log).filter((line) => !line.startsWith('loss'))).toEqual([
      'request alice → gateway 1.0 HTTP+JSON send: hello',
      'request gateway → oldie 0.1 JSONRPC send: hello',
      'response oldie → gateway 0.1 JSONRPC task completed: hello',
      'response gateway → alice 1.0 HTTP+JSON task completed: hello',
    ]);
    const losses = recordsIn(log).filter(({ kind }) => kind === 'loss');
    expect(losses.map(({ from, to }) => [from, to])).toContainEqual(['gateway', 'oldie']);
    expect(losses.flatMap(({ decoded }) => decoded?.losses?.map(({ path }) => path) ?? [])).toContain('id');
    expect(JSON.stringify(recordsIn(log))).not.toContain('secret-of-alice-1');
    await httpPost(`${url}/agents/oldie/message:send`, { message }, { 'a2a-version': '1.0' });
    expect(recordsIn(log).at(-1)).toMatchObject({
      kind: 'response',
      from: 'gateway',
      http: { status: 401 },
    });
  });

  it('records each mesh message once if both ends share the log', async () => {
    const { log } = await startGateway(`
listen: 0
mesh: { url: "memory:tap-test", namespace: tap/test, card_interval_seconds: 60 }
agents: { sample: { url: "${await startAgent()}" } }
`);
    const broker = await connectBroker('memory:tap-test');
    open.push(broker);
    const client = await MeshTestClient.join(
      tapBroker(broker, log, { name: 'gateway_1' }),
      'tap/test',
      'gateway_1',
    );
    const task = crypto.randomUUID();
    await client.send('sample', task, request0_3(task, 'hello'));
    await client.waitForResponse(task);
    await waitForRecord(
      log,
      ({ kind, decoded }) => kind === 'message' && decoded?.summary.startsWith('task completed') === true,
    );
    const messages = recordsIn(log).filter(
      ({ kind, decoded }) => kind === 'message' && decoded?.operation !== 'card',
    );
    expect(summarizeRecords(messages)[0]).toBe('message gateway_1 → sample 0.3 mesh stream: hello');
    expect(summarizeRecords(messages).at(-1)).toMatch(
      /^message gateway → gateway_1 0\.3 mesh task completed/,
    );
    expect(
      summarizeRecords(messages).filter((line) => line.includes('status working')).length,
    ).toBeLessThanOrEqual(2);
    const keys = messages.map(({ text, mesh }) => `${mesh?.topic} ${text}`);
    expect(new Set(keys).size).toBe(keys.length);
  });
});
