import { describe, expect, it } from 'vitest';
import { summarizeRecords, recordsIn, waitForRecord } from '../../../test/support/tap/traffic-log.ts';
import { collectStream } from '../../../test/support/collect-stream.ts';
import { sampleAgent } from '../../../test/interop/sample-agent.ts';
import { httpGet, httpOpen, httpPost } from '../../../test/support/http/http-calls.ts';
import { connect } from '../../client/connect.ts';
import { bearerAuth } from '../../server/auth/schemes/bearer.ts';
import { toFetchHandler } from '../../server/fetch.ts';
import { serve } from '../../server/node/serve.ts';
import type { ServerOptions } from '../../server/server-options.ts';
import { TrafficLog } from '../traffic-log.ts';
import { tapServer } from './tap-server.ts';

const version = { 'a2a-version': '1.0' };
const say = (text: string) => ({
  message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] },
});

async function running(options: ServerOptions = {}) {
  const log = new TrafficLog();
  const server = await serve(sampleAgent(), { ...options, ...tapServer(log, { name: 'Sample' }) });
  return { log, url: server.url, [Symbol.asyncDispose]: () => server.stop(0) };
}

describe('tapServer', () => {
  it('records requests, responses, events and the end of a stream', async () => {
    await using server = await running();
    const { log, url } = server;
    const { json } = await httpPost(`${url}/message:send`, say('hello'), {
      ...version,
      'user-agent': 'weather-bot/2.1 (x)',
    });
    await httpPost(`${url}/message:stream`, say('stream'), version);
    await httpGet(`${url}/healthz`);
    const records = recordsIn(log);
    expect(summarizeRecords(records).slice(0, 4)).toEqual([
      'request weather-bot → Sample 1.0 HTTP+JSON send: hello',
      'response Sample → weather-bot 1.0 HTTP+JSON task completed: hello',
      'request client → Sample 1.0 HTTP+JSON stream: stream',
      'response Sample → client 1.0 HTTP+JSON stream begins',
    ]);
    expect(records[1]).toMatchObject({
      http: {
        method: 'POST',
        url: `${url}/message:send`,
        status: 200,
        headers: { 'content-type': 'application/a2a+json' },
      },
      text: JSON.stringify(json),
      decoded: { taskId: json.task.id, contextId: json.task.contextId, state: 'completed' },
    });
    expect(records[4]?.text).toMatch(/^id: \d+\ndata: \{"task":/);
    expect(records.at(-1)).toMatchObject({ kind: 'end', text: 'The stream ended' });
    expect(records.flatMap(({ decoded }) => decoded?.findings ?? [])).toEqual([]);
  });

  it('records calls of gRPC as ProtoJSON, with their translation', async () => {
    await using server = await running();
    const { log, url } = server;
    const client = connect(url, { transports: ['GRPC'] });
    expect(await client.send('hello')).toMatchObject({ status: { state: 'completed' } });
    await collectStream(client.stream('stream'));
    await expect(client.getTask({ id: 'none' })).rejects.toThrow(/not found/i);
    await client.close();
    const records = recordsIn(log).filter(({ decoded }) => decoded?.transport === 'GRPC');
    const summaries = summarizeRecords(records);
    expect(summaries.slice(0, 2)).toEqual([
      expect.stringMatching(/^request .+ → Sample 1\.0 GRPC send: hello$/),
      expect.stringMatching(/^response Sample → .+ 1\.0 GRPC task completed: hello$/),
    ]);
    expect(JSON.parse(records[0]?.text ?? '')).toMatchObject({ message: { parts: [{ text: 'hello' }] } });
    expect(records.filter(({ kind }) => kind === 'frame').length).toBeGreaterThan(3);
    expect(summaries.at(-1)).toMatch(/GRPC .*not found/i);
    expect(records.flatMap(({ decoded }) => decoded?.findings ?? [])).toEqual([]);
  });

  it('names the principal and redacts its credentials', async () => {
    const auth = { authenticators: [bearerAuth({ tokens: new Map([['token-of-alice-1', 'alice']]) })] };
    await using server = await running({ auth });
    const { log, url } = server;
    const credentials = { authorization: 'Bearer token-of-alice-1', ...version };
    await httpPost(`${url}/message:send`, say('hello'), credentials);
    await httpGet(`${url}/tasks`, credentials);
    await httpPost(`${url}/message:send`, say('hello'), {
      authorization: 'Bearer wrong-token-1',
      ...version,
    });
    expect(summarizeRecords(recordsIn(log))).toEqual([
      'request alice → Sample 1.0 HTTP+JSON send: hello',
      'response Sample → alice 1.0 HTTP+JSON task completed: hello',
      'request alice → Sample 1.0 HTTP+JSON list tasks',
      'response Sample → alice 1.0 HTTP+JSON 1 task',
      // Bodies of unauthenticated requests are not recorded.
      'request client → Sample 1.0 HTTP+JSON send',
      'response Sample → client 1.0 HTTP+JSON unauthenticated: Invalid credentials',
    ]);
    expect(JSON.stringify(log.recordsAfter())).not.toMatch(/token-of-alice-1|wrong-token-1/);
  });

  it('records rejected requests: malformed JSON, batches and oversized bodies', async () => {
    await using server = await running({ maxBodyBytes: 1_000 });
    const { log, url } = server;
    await httpPost(url, '{');
    await httpPost(url, [{ jsonrpc: '2.0', id: 1, method: 'GetTask' }]);
    await httpPost(url, say('x'.repeat(2_000)), version);
    const kinds = recordsIn(log).map(({ kind, http }) => `${kind} ${http?.status ?? ''}`.trim());
    expect(kinds).toEqual(['request', 'response 200', 'request', 'response 200', 'request', 'response 413']);
  });

  it('records a client disconnect', async () => {
    await using server = await running();
    const { log, url } = server;
    const disconnect = new AbortController();
    await httpOpen(`${url}/message:stream`, say('slow'), version, 'POST', disconnect.signal);
    await waitForRecord(log, ({ decoded }) => decoded?.summary === 'status working: This takes a while.');
    disconnect.abort();
    expect(await waitForRecord(log, ({ kind }) => kind === 'end')).toMatchObject({
      text: 'The client disconnected',
    });
  });

  it('records traffic of toFetchHandler', async () => {
    const log = new TrafficLog();
    const handle = toFetchHandler(sampleAgent(), tapServer(log, { name: 'Sample' }));
    const headers = { 'content-type': 'application/json', ...version };
    const body = JSON.stringify(say('stream'));
    await (
      await handle(new Request('https://a.test/message:stream', { method: 'POST', headers, body }))
    ).text();
    const records = recordsIn(log);
    expect(records.map(({ kind }) => kind)).toEqual([
      'request',
      'response',
      ...Array(8).fill('frame'),
      'end',
    ]);
    expect(records[0]?.http?.url).toBe('https://a.test/message:stream');
  });

  it('keeps serving when a traffic observer throws', async () => {
    await using server = await running({});
    const failing = await serve(sampleAgent(), {
      onTraffic: () => ({
        responded: () => {
          throw new Error('no');
        },
        frame: () => {
          throw new Error('no');
        },
        ended: () => {
          throw new Error('no');
        },
      }),
    });
    const { text } = await httpPost(`${failing.url}/message:stream`, say('stream'), version);
    expect(text).toContain('TASK_STATE_COMPLETED');
    await failing.stop(0);
    expect(server.log.lastSequence).toBe(0);
  });
});
