import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readPrompts } from '../../../src/conformance/prompts/read-prompts.ts';
import { type RunningConsole, serveConsole } from '../../../src/console/serve-console.ts';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import { bearerAuth } from '../../../src/server/auth/index.ts';
import { type RunningServer, serve } from '../../../src/server/node/serve.ts';
import { ConsolePage } from '../../support/console/console-page.ts';

const agent = defineAgent({
  name: 'Asker',
  description: 'Asks',
  skills: [{ id: 'talk', name: 'Talk', description: 'Talks', tags: ['talk'], examples: ['hi'] }],
  async *process({ text, ask }) {
    if (text === 'please ask') await ask('Which?');
    yield { artifact: { artifactId: 'a', parts: [{ text }] } };
  },
});
const token = 'token-of-alice-1234';
let served: RunningServer;
let protectedServer: RunningServer;
let running: RunningConsole;
let page: ConsolePage;
let id: string;
let protectedId: string;

beforeAll(async () => {
  served = await serve(agent);
  protectedServer = await serve(agent, {
    auth: { authenticators: [bearerAuth({ tokens: { [token]: 'alice' } })] },
  });
  running = await serveConsole({ agents: [{ url: served.url }, { url: protectedServer.url }] });
  page = new ConsolePage(running);
  [{ id }, { id: protectedId }] = await page.requestJson('agents');
});
afterAll(async () => {
  await running.stop();
  await Promise.all([served.stop(0), protectedServer.stop(0)]);
  await agent.close();
});

/** Starts a run and returns its events until it has ended. */
async function run(input: object, path = 'conformance/run'): Promise<any[]> {
  await page.requestJson(path, input);
  const events: any[] = [];
  for await (const event of page.stream('conformance/run')) {
    events.push(event);
    if (['report', 'canceled', 'error'].includes(event.kind)) break;
  }
  return events;
}

async function errorOf(response: Response): Promise<string> {
  return ((await response.json()) as { error: { message: string } }).error.message;
}

async function reportOf(events: readonly any[]): Promise<{ id: string; report: any; results: any[] }> {
  const { reportId } = events.at(-1);
  const report = await page.requestJson(`conformance/reports/${reportId}`);
  return { id: reportId, report, results: Object.values(report.categories).flat() };
}

describe('conformance routes', () => {
  it('tell which checks run and their verdicts, one run at a time, also to a page that comes later', async () => {
    await page.requestJson('conformance/run', { agentId: id, level: 'MUST' });
    const second = await page.request('conformance/run', {
      method: 'POST',
      body: JSON.stringify({ agentId: id }),
    });
    expect(second.status).toBe(409);
    const events: any[] = [];
    for await (const event of page.stream('conformance/run')) {
      events.push(event);
      if (event.kind === 'report') break;
    }
    expect(events[0]).toMatchObject({ kind: 'started', agentId: id, agentName: 'Asker' });
    const checked = events.filter(({ kind }) => kind === 'checked');
    const started = events.filter(({ kind }) => kind === 'checking');
    expect(checked.map(({ done }) => done)).toEqual(checked.map((_, at) => at + 1));
    expect(started).toHaveLength(checked.at(-1).total);
    expect(checked[0]).toMatchObject({
      rule: expect.any(String),
      level: 'MUST',
      version: expect.any(String),
    });
    const { report, id: reportId } = await reportOf(events);
    expect(report).toMatchObject({ agentName: 'Asker', summary: { failed: 0 } });
    const [again] = await page.requestJson('conformance/reports');
    expect(again).toMatchObject({
      id: reportId,
      agentId: id,
      isUploaded: false,
      level: report.conformanceLevel,
    });
  });

  it('advise what to do in the page, and use the messages that the user saved for the agent', async () => {
    const [{ id: reportId }] = await page.requestJson('conformance/reports');
    const before = await page.requestJson(`conformance/reports/${reportId}`);
    const texts = JSON.stringify([
      before.warnings,
      Object.values(before.categories)
        .flat()
        .map((each: any) => each.message),
    ]);
    expect(texts).not.toMatch(/ --[a-z]/);
    const isAboutInput = (each: any): boolean => each.missing?.outcome === 'input-required';
    const undecided = (Object.values(before.categories).flat() as any[]).filter(isAboutInput);
    expect(undecided.length).toBeGreaterThan(0);
    expect(undecided[0].message).toContain('under Messages, input-required');
    await page.requestJson(`agents/${id}/prompts`, { 'input-required': { text: 'please ask' } });
    expect(await page.requestJson(`agents/${id}/prompts`)).toEqual({
      'input-required': { text: 'please ask' },
    });
    expect(await page.requestJson(`agents/${protectedId}/prompts`)).toEqual({});
    // Only the rules that lacked the message are run again.
    const { test, version, transport } = undecided[0];
    const events = await run({ test, version, transport }, `conformance/reports/${reportId}/repeat`);
    expect(events[0]).toMatchObject({ kind: 'started', rule: test });
    const { id: sameId, results, report } = await reportOf(events);
    expect(sameId).toBe(reportId);
    const repeated = results.filter((each) => each.test === test && each.version === version);
    expect(repeated.find((each) => each.transport === transport).verdict).toBe('pass');
    expect(report.summary.total).toBe(before.summary.total);
    expect(report.summary.inconclusive).toBe(before.summary.inconclusive - 1);
  });

  it('repeats an invariant with the checks that it observes', async () => {
    const [{ id: reportId }] = await page.requestJson('conformance/reports');
    const variant = { version: '1.0', transport: 'JSONRPC' };
    const { results } = await reportOf([{ reportId }]);
    const invariant = results.find(
      (each) => each.observations > 5 && each.version === '1.0' && each.transport === 'JSONRPC',
    );
    const events = await run({ ...variant, test: invariant.test }, `conformance/reports/${reportId}/repeat`);
    const again = (await reportOf(events)).results.find(
      (each) => each.test === invariant.test && each.version === '1.0' && each.transport === 'JSONRPC',
    );
    expect(again.verdict).toBe(invariant.verdict);
    expect(again.observations).toBeGreaterThan(1);
  });

  it('compare a report with an uploaded one', async () => {
    const [{ id: reportId }] = await page.requestJson('conformance/reports');
    const { report, results } = await reportOf([{ reportId }]);
    const [first, second, ...others] = results.filter((each) => each.verdict === 'pass');
    const earlier = {
      ...report,
      categories: {
        lifecycle: [
          { ...first, verdict: 'fail', status: 'fail' },
          { ...second, verdict: 'inconclusive', status: 'skip' },
          { ...others[0], test: 'send.gone' },
          ...results.filter((each) => each !== first && each !== second),
        ],
      },
    };
    const uploaded = await page.requestJson('conformance/reports', earlier);
    expect(uploaded).toMatchObject({ agentName: 'Asker', isUploaded: true });
    const changes = await page.requestJson(`conformance/reports/${reportId}/changes?since=${uploaded.id}`);
    expect(changes.map(({ test, kind, before, after }: any) => [test, kind, before, after])).toEqual(
      expect.arrayContaining([
        [first.test, 'fixed', 'fail', 'pass'],
        [second.test, 'changed', 'inconclusive', 'pass'],
        ['send.gone', 'missing', 'pass', undefined],
      ]),
    );
    expect(changes).toHaveLength(3);
    const back = await page.requestJson(`conformance/reports/${uploaded.id}/changes?since=${reportId}`);
    expect(back.find(({ test }: any) => test === first.test)).toMatchObject({ kind: 'regression' });
    expect((await page.request(`conformance/reports/${uploaded.id}`)).status).toBe(404);
    for (const body of ['{}', '[]', 'no', '{"categories":{"a":[{"test":"x","verdict":"<b>"}]}}']) {
      const response = await page.request('conformance/reports', { method: 'POST', body });
      expect(response.status).toBe(400);
      expect(await errorOf(response)).toMatch(/^The file is not a JSON report: .*Save JSON/s);
    }
  });

  it('writes the formats of the command', async () => {
    const [{ id: reportId }] = (await page.requestJson('conformance/reports')).filter(
      (each: any) => !each.isUploaded,
    );
    const file = async (format: string): Promise<Response> =>
      page.request(`conformance/reports/${reportId}/file?format=${format}`);
    expect(await (await file('html')).text()).toMatch(/^<!doctype html>/);
    expect(await (await file('junit')).text()).toContain('<testsuites');
    expect(JSON.parse(await (await file('sarif')).text())).toMatchObject({ version: '2.1.0' });
    expect(JSON.parse(await (await file('json')).text())).toMatchObject({ agentName: 'Asker' });
    expect((await file('exe')).status).toBe(400);
    expect((await page.request('conformance/reports/none/file?format=json')).status).toBe(404);
  });

  it('reads and writes the file that the command reads', async () => {
    const prompts = { slow: { text: 'wait: "long"\n# not a comment' }, failed: { messageId: 'fail' } };
    const file = await page.request('conformance/prompts/file', {
      method: 'POST',
      body: JSON.stringify(prompts),
    });
    const yaml = await file.text();
    expect(readPrompts(yaml, 'prompts.yaml')).toEqual(prompts);
    const read = await page.request('conformance/prompts', { method: 'POST', body: yaml });
    expect(await read.json()).toEqual(prompts);
    const bad = await page.request('conformance/prompts', { method: 'POST', body: 'slow: 1\nfast: x' });
    expect(bad.status).toBe(400);
    expect(await errorOf(bad)).toContain('prompts.yaml:1:');
    for (const body of ['{"fast":{"text":"x"}}', '{"slow":{"text":1}}', '[]'])
      expect((await page.request(`agents/${id}/prompts`, { method: 'POST', body })).status).toBe(400);
  });

  it('cancels a run at once, also while the agent does not respond', async () => {
    const silent = createServer(() => {});
    await once(silent.listen(0, '127.0.0.1'), 'listening');
    const { port } = silent.address() as AddressInfo;
    const { id: silentId } = await page.requestJson('agents', { url: `http://127.0.0.1:${port}` });
    await page.requestJson('conformance/run', { agentId: silentId });
    await page.requestJson('conformance/run', undefined, 'DELETE');
    const events: any[] = [];
    for await (const event of page.stream('conformance/run')) if (events.push(event) === 2) break;
    expect(events.map(({ kind }) => kind)).toEqual(['started', 'canceled']);
    silent.closeAllConnections();
    await new Promise((resolve) => silent.close(resolve));
  });

  it('advises to enter credentials, and keeps those of other users out of the report', async () => {
    const events = await run({
      agentId: protectedId,
      level: 'MUST',
      otherUser: { name: 'Authorization', value: 'Bearer secret-of-bob-123456' },
    });
    const { report } = await reportOf(events);
    expect(JSON.stringify(report.warnings)).toContain('add the agent again with them');
    expect(JSON.stringify(report)).not.toContain('secret-of-bob');
    expect(JSON.stringify(report)).not.toMatch(/(?:Pass|Raise|Use|pass|raise)[^"]* --[a-z]/);
  });

  it('rejects invalid options and unknown agents', async () => {
    for (const body of [
      { agentId: id, timeout: 1 },
      { agentId: id, otherUser: { name: 'a b', value: 'x' } },
      { agentId: id, webhookUrl: 'ftp://x' },
    ])
      expect(
        (await page.request('conformance/run', { method: 'POST', body: JSON.stringify(body) })).status,
      ).toBe(400);
    const unknown = await page.request('conformance/run', { method: 'POST', body: '{"agentId":"none"}' });
    expect(unknown.status).toBe(404);
  });
});
