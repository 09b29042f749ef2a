import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningConsole, serveConsole } from '../../../src/console/serve-console.ts';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import { Metrics } from '../../../src/metrics/metrics.ts';
import { type RunningServer, serve } from '../../../src/server/node/serve.ts';
import { TrafficLog } from '../../../src/tap/traffic-log.ts';
import { ConsolePage } from '../../support/console/console-page.ts';

const agent = defineAgent({ name: 'Echo', description: 'Repeats', process: ({ text }) => text });
const metrics = new Metrics();
const trafficLog = new TrafficLog();
let served: RunningServer;
let running: RunningConsole;
let page: ConsolePage;
let id: string;

beforeAll(async () => {
  served = await serve(agent, { metrics: { metrics } });
  running = await serveConsole({ agents: [{ url: served.url }], trafficLog, metrics });
  page = new ConsolePage(running);
  [{ id }] = await page.requestJson('agents');
});
afterAll(async () => {
  await running.stop();
  await served.stop(0);
  await agent.close();
});

describe('tests in the console', () => {
  it('hides the tasks of a load run from the list of tasks', async () => {
    const message = { parts: [{ text: 'by a user' }], stream: false };
    await page.collect(`agents/${id}/messages`, message);
    // Few enough tasks for the store and the list, on a fast machine too.
    const load = { rate: 100, warmUp: 0, duration: 200, connections: 2 };
    await page.requestJson('load/run', { agentId: id, operation: 'send', ...load });
    for await (const event of page.stream('load/run')) if (event.kind === 'report') break;
    const all = await page.requestJson(`agents/${id}/tasks?pageSize=5`);
    expect(all.tasks).toHaveLength(5);
    expect(all.hiddenCount).toBe(0);
    const shown = await page.requestJson(`agents/${id}/tasks?tests=hide&pageSize=5`);
    expect(shown.tasks.map(({ history }: any) => history[0].parts[0].text)).toEqual(['by a user']);
    expect(shown.hiddenCount).toBe(all.totalSize - 1);
  });

  it('hides the requests of tests from the load, also on the way behind a gateway', async () => {
    /** Sums the requests in all samples until a condition holds. */
    const sum = async (query: string, isEnough: (requests: number) => boolean): Promise<number> => {
      let requests = 0;
      for await (const event of page.stream(`load?${query}`)) {
        if (event.kind === 'sample') requests += event.sample.requests;
        if (event.kind === 'sample' && isEnough(requests)) return requests;
      }
      return requests;
    };
    const http = { method: 'POST', url: served.url, headers: {} };
    const request = (exchangeId: string, from: string, to: string, messageId: string): void => {
      const decoded = { summary: 'send', model: { message: { messageId } } };
      trafficLog.add({ at: Date.now(), exchangeId, kind: 'request', from, to, text: '', http, decoded });
    };
    for (let n = 0; n < 40; n++) {
      request(`outer${n}`, 'conformance', 'gateway', `test${n}`);
      request(`inner${n}`, 'gateway', 'Echo', `test${n}`);
    }
    request('user', 'browser', 'Echo', 'by a user');
    expect(await sum('agent=Echo', (requests) => requests >= 41)).toBe(41);
    expect(await sum('agent=Echo&tests=hide', (requests) => requests >= 1)).toBe(1);
    const names = async (query: string): Promise<string[]> => {
      for await (const event of page.stream(`load?${query}`)) if (event.kind === 'agents') return event.names;
      return [];
    };
    expect(await names('')).toEqual(['gateway', 'Echo']);
    expect(await names('tests=hide')).toEqual(['Echo']);
  });

  it('shows the metrics of servers again after the tests', async () => {
    trafficLog.add({ at: 0, exchangeId: 'one', kind: 'request', from: 'load', to: 'Echo', text: '' });
    const testedAt = Date.now();
    for await (const { kind, sample } of page.stream('load?tests=hide')) {
      if (kind !== 'sample' || sample.at < testedAt) continue;
      if (sample.requests > 0) break;
      // Only the metrics of the server count this request.
      await page.collect(`agents/${id}/messages`, { parts: [{ text: 'hi' }], stream: false });
    }
  });

  it('rejects unknown filters', async () => {
    expect((await page.request(`agents/${id}/tasks?tests=some`)).status).toBe(400);
  });
});
