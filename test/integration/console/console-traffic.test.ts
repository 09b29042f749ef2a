import { once } from 'node:events';
import { get as askFor, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningConsole, serveConsole } from '../../../src/console/serve-console.ts';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import { type RunningServer, serve } from '../../../src/server/node/serve.ts';
import { TrafficLog } from '../../../src/tap/traffic-log.ts';
import { ConsolePage } from '../../support/console/console-page.ts';

const talker = defineAgent({
  name: 'Talker',
  description: 'Talks',
  process: async ({ text }) => `You said: ${text}`,
});
const trafficLog = new TrafficLog({ maxRecords: 100 });
let served: RunningServer;
let running: RunningConsole;
let page: ConsolePage;

beforeAll(async () => {
  served = await serve(talker);
  running = await serveConsole({ trafficLog });
  page = new ConsolePage(running);
});
afterAll(async () => {
  await running.stop();
  await served.stop(0);
  await talker.close();
});

describe('traffic routes of the console', () => {
  const record = (text: string) =>
    ({ at: 1, exchangeId: 't', kind: 'request', from: 'a', to: 'b', text }) as const;

  it('replay records after a sequence number, then stream new ones', async () => {
    trafficLog.add(record('one'));
    const two = trafficLog.add(record('two'));
    const playing = page.stream(`traffic?after=${two.sequence - 1}`);
    expect((await playing.next()).value).toEqual({ kind: 'log', id: expect.any(String) });
    expect((await playing.next()).value).toEqual({ kind: 'record', record: two });
    const three = trafficLog.add(record('three'));
    expect((await playing.next()).value).toEqual({ kind: 'record', record: three });
    await playing.return(undefined);
  });

  it('replay all records to a page of a previous console process', async () => {
    const [oldest] = trafficLog.recordsAfter();
    const playing = page.stream(`traffic?after=${trafficLog.lastSequence + 1_000}&log=another`);
    const { id: logId } = (await playing.next()).value;
    expect((await playing.next()).value).toEqual({ kind: 'record', record: oldest });
    await playing.return(undefined);
    const again = page.stream(`traffic?after=${trafficLog.lastSequence}&log=${logId}`);
    await again.next();
    const next = again.next();
    const newest = trafficLog.add(record('newest'));
    expect((await next).value).toEqual({ kind: 'record', record: newest });
    await again.return(undefined);
  });

  it('clears the traffic log on request without reporting a gap', async () => {
    expect((await page.request('traffic', { method: 'DELETE' })).status).toBe(204);
    const playing = page.stream('traffic');
    await playing.next();
    const next = playing.next();
    const four = trafficLog.add(record('four'));
    expect((await next).value).toEqual({ kind: 'record', record: four });
    await playing.return(undefined);
  });

  it('reports the number of skipped records to a slow reader', async () => {
    const before = trafficLog.lastSequence;
    const headers = { authorization: `Bearer ${running.token}` };
    const [slow] = (await once(
      askFor(`${running.origin}/api/traffic?after=${before}`, { headers }),
      'response',
    )) as [IncomingMessage];
    const text = 'x'.repeat(100_000);
    // Each turn of the event loop lets the server send what it can.
    for (let at = 0; at < 600; at++) {
      trafficLog.add(record(text));
      if (at % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    let buffered = '';
    let missed = 0;
    let received = 0;
    let last = before;
    for await (const chunk of slow.setEncoding('utf8')) {
      buffered += chunk as string;
      for (let end = buffered.indexOf('\n\n'); end >= 0; end = buffered.indexOf('\n\n')) {
        const event = JSON.parse(buffered.slice('data: '.length, end));
        buffered = buffered.slice(end + 2);
        if (event.kind === 'gap') missed += event.missed;
        else if (event.kind === 'record') {
          expect(event.record.sequence).toBeGreaterThan(last);
          last = event.record.sequence;
          received++;
        }
      }
      if (last === trafficLog.lastSequence) break;
    }
    slow.destroy();
    expect(missed).toBeGreaterThan(100);
    expect(missed + received).toBe(600);
  });

  it('exports a traffic file, imports it and exports a scenario', async () => {
    await page.request('traffic', { method: 'DELETE' });
    await using own = await serveConsole({ agents: [{ url: served.url }] });
    const mine = new ConsolePage(own);
    const [{ id }] = await mine.requestJson('agents');
    await mine.collect(`agents/${id}/messages`, { parts: [{ text: 'for the record' }] });
    const file = await mine.request('traffic/file');
    expect(file.headers.get('content-disposition')).toBe('attachment; filename="traffic.tap.jsonl"');
    const text = await file.text();
    const { records } = (await (
      await mine.request('traffic/file', { method: 'POST', body: text })
    ).json()) as any;
    expect(records.map((each: any) => each.kind)).toContain('frame');
    expect(JSON.stringify(records)).toContain('for the record');
    expect(text).not.toContain(own.token);
    const { yaml } = await mine.requestJson('traffic/scenario', { records });
    expect(yaml).toContain('for the record');
    expect((await mine.request('traffic/file', { method: 'POST', body: 'nonsense' })).status).toBe(400);
    expect(
      (await mine.request('traffic/scenario', { method: 'POST', body: '{"records":[{}]}' })).status,
    ).toBe(400);
  });
});
