import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningConsole, serveConsole } from '../../../src/console/serve-console.ts';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import { bearerAuth } from '../../../src/server/auth/index.ts';
import { type RunningServer, serve } from '../../../src/server/node/serve.ts';
import { ConsolePage } from '../../support/console/console-page.ts';
import { waitUntil } from '../../support/server/checked-server.ts';

const token = 'a-secret-of-the-agent';
let calls = 0;
const agent = defineAgent({
  name: 'Busy',
  description: 'Replies',
  process: async ({ text, signal }) => {
    calls++;
    if (text === 'slow') await new Promise((resolve) => signal.addEventListener('abort', resolve));
    return 'done';
  },
});
let server: RunningServer;
let running: RunningConsole;
let page: ConsolePage;
let agentId: string;
let remoteId: string;

beforeAll(async () => {
  server = await serve(agent, { auth: { authenticators: [bearerAuth({ tokens: { [token]: 'me' } })] } });
  running = await serveConsole({
    agents: [{ url: server.url, credentials: { kind: 'bearer', token } }, { url: 'http://192.0.2.1' }],
  });
  page = new ConsolePage(running);
  // The list would wait for the agent that does not respond.
  [agentId, remoteId] = [idOf(server.url), idOf('http://192.0.2.1')];
});
afterAll(async () => {
  await running.stop();
  await server.stop(0);
  await agent.close();
});

function idOf(url: string): string {
  return createHash('sha256').update(new URL(url).href).digest('hex').slice(0, 12);
}

const start = (input: object): Promise<Response> =>
  page.request('load/run', {
    method: 'POST',
    body: JSON.stringify({ agentId, operation: 'send', duration: 600_000, warmUp: 0, ...input }),
  });

/** Reads the events of the newest run until its end. */
async function readRun(): Promise<any[]> {
  const events: any[] = [];
  for await (const event of page.stream('load/run')) {
    events.push(event);
    if (event.kind === 'report' || event.kind === 'error') break;
  }
  return events;
}

describe('load run routes', () => {
  it('run one load run at a time, until it is stopped', async () => {
    expect((await start({ rate: 200, text: 'slow' })).status).toBe(204);
    const second = await start({});
    expect(second.status).toBe(409);
    expect(((await second.json()) as any).error.message).toMatch(/^A load run is already in progress/);
    await waitUntil(() => calls >= 5, 'the agent is called');
    expect((await page.request('load/run', { method: 'DELETE' })).status).toBe(204);
    const events = await readRun();
    expect(events[0]).toMatchObject({ kind: 'started', agentId, plan: { rate: 200, connections: 256 } });
    expect(events[1]).toEqual({ kind: 'connected', variant: { version: '1.0', transport: 'JSONRPC' } });
    expect(events.at(-1)).toMatchObject({ kind: 'report', report: { isStopped: true, succeeded: 0 } });
    expect(events.at(-1).report.abandoned).toBeGreaterThanOrEqual(5);
  });

  it('send the figures of a run to every page, also after its end', async () => {
    const variant = { version: '0.3', transport: 'HTTP+JSON' };
    await start({ connections: 2, duration: 300, operation: 'stream', variant });
    const events = await readRun();
    expect(events[1]).toEqual({ kind: 'connected', variant });
    const { report } = events.at(-1);
    expect(report).toMatchObject({ loop: 'closed', isStopped: false, failed: 0, errors: [] });
    expect(report.succeeded).toBeGreaterThan(0);
    expect(events.filter(({ kind }) => kind === 'progress').length).toBeGreaterThan(0);
    expect(await readRun()).toEqual(events);
    expect(JSON.stringify(events)).not.toContain(token);
  });

  it('refuse agents on other hosts', async () => {
    const response = await start({ agentId: remoteId });
    expect(response.status).toBe(400);
    expect(((await response.json()) as any).error).toMatchObject({
      reason: 'INVALID_PARAMS',
      message: expect.stringContaining('192.0.2.1 is not on this machine'),
    });
  });

  it.each([
    { rate: 1_001 },
    { connections: 257 },
    { duration: 600_001 },
    { warmUp: 60_001 },
    { operation: 'cancel' },
    { url: 'http://192.0.2.1' },
  ])('reject %o', async (input) => {
    expect((await start(input)).status).toBe(400);
  });

  it('report why an agent cannot be measured', async () => {
    const gone = await serve(defineAgent({ name: 'Gone', description: 'Gone', process: () => 'x' }));
    const { id } = await page.requestJson('agents', { url: gone.url });
    await gone.stop(0);
    await start({ agentId: id });
    expect((await readRun()).at(-1)).toMatchObject({ kind: 'error', reason: 'UNAVAILABLE' });
  });
});
