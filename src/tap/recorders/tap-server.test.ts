import { describe, expect, it } from 'vitest';
import { summarizeRecords, recordsIn, waitForRecord } from '../../../test/support/tap/traffic-log.ts';
import { sampleAgent } from '../../../test/interop/sample-agent.ts';
import { httpGet, httpOpen, httpPost } from '../../../test/support/http/http-calls.ts';
import { bearerAuth } from '../../server/auth/schemes/bearer.ts';
import { fetchHandler } from '../../server/fetch.ts';
import { serve } from '../../server/node/serve.ts';
import type { ServerOptions } from '../../server/server-options.ts';
import { TrafficLog } from '../traffic-log.ts';
import { tapServer } from './tap-server.ts';

const version = { 'a2a-version': '1.0' };
const say = (text: string) => ({
  message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] },
});

async function running(options: ServerOptions = {}) {
  const tape = new TrafficLog();
  const server = await serve(sampleAgent(), { ...options, ...tapServer(tape, { name: 'Sample' }) });
  return { tape, url: server.url, [Symbol.asyncDispose]: () => server.stop(0) };
}

describe('a server that is tapped', () => {
  it('shows requests, answers, events and their end', async () => {
    await using server = await running();
    const { tape, url } = server;
    const { json } = await httpPost(`${url}/message:send`, say('hello'), {
      ...version,
      'user-agent': 'weather-bot/2.1 (x)',
    });
    await httpPost(`${url}/message:stream`, say('stream'), version);
    await httpGet(`${url}/healthz`);
    const passages = recordsIn(tape);
    expect(summarizeRecords(passages).slice(0, 4)).toEqual([
      'request weather-bot → Sample 1.0 HTTP+JSON send: hello',
      'response Sample → weather-bot 1.0 HTTP+JSON task completed: hello',
      'request caller → Sample 1.0 HTTP+JSON stream: stream',
      'response Sample → caller 1.0 HTTP+JSON stream begins',
    ]);
    expect(passages[1]).toMatchObject({
      http: {
        method: 'POST',
        url: `${url}/message:send`,
        status: 200,
        headers: { 'content-type': 'application/a2a+json' },
      },
      text: JSON.stringify(json),
      meaning: { taskId: json.task.id, contextId: json.task.contextId, state: 'completed' },
    });
    expect(passages[4]?.text).toMatch(/^id: \d+\ndata: \{"task":/);
    expect(passages.at(-1)).toMatchObject({ kind: 'end', text: 'The stream ended' });
    expect(passages.flatMap(({ decoded: meaning }) => meaning?.findings ?? [])).toEqual([]);
  });

  it('knows who calls, and keeps none of what proved it', async () => {
    const auth = { authenticators: [bearerAuth({ tokens: new Map([['token-of-alice-1', 'alice']]) })] };
    await using server = await running({ auth });
    const { tape, url } = server;
    const proof = { authorization: 'Bearer token-of-alice-1', ...version };
    await httpPost(`${url}/message:send`, say('hello'), proof);
    await httpGet(`${url}/tasks`, proof);
    await httpPost(`${url}/message:send`, say('hello'), {
      authorization: 'Bearer wrong-token-1',
      ...version,
    });
    expect(summarizeRecords(recordsIn(tape))).toEqual([
      'request alice → Sample 1.0 HTTP+JSON send: hello',
      'response Sample → alice 1.0 HTTP+JSON task completed: hello',
      'request alice → Sample 1.0 HTTP+JSON list tasks',
      'response Sample → alice 1.0 HTTP+JSON 1 task',
      // Whoever is not known is not listened to.
      'request caller → Sample 1.0 HTTP+JSON send',
      'response Sample → caller 1.0 HTTP+JSON unauthenticated: The credentials are not valid',
    ]);
    expect(JSON.stringify(tape.recordsAfter())).not.toMatch(/token-of-alice-1|wrong-token-1/);
  });

  it('shows what was refused: no JSON, a batch, too much', async () => {
    await using server = await running({ maxBodyBytes: 1_000 });
    const { tape, url } = server;
    await httpPost(url, '{');
    await httpPost(url, [{ jsonrpc: '2.0', id: 1, method: 'GetTask' }]);
    await httpPost(url, say('x'.repeat(2_000)), version);
    const kinds = recordsIn(tape).map(({ kind, http }) => `${kind} ${http?.status ?? ''}`.trim());
    expect(kinds).toEqual(['request', 'response 200', 'request', 'response 200', 'request', 'response 413']);
  });

  it('says when the caller hangs up', async () => {
    await using server = await running();
    const { tape, url } = server;
    const leave = new AbortController();
    await httpOpen(`${url}/message:stream`, say('slow'), version, 'POST', leave.signal);
    await waitForRecord(
      tape,
      ({ decoded: meaning }) => meaning?.summary === 'status working: This takes a while.',
    );
    leave.abort();
    expect(await waitForRecord(tape, ({ kind }) => kind === 'end')).toMatchObject({
      text: 'The caller hung up',
    });
  });

  it('works where there is no Node', async () => {
    const tape = new TrafficLog();
    const answer = fetchHandler(sampleAgent(), tapServer(tape, { name: 'Sample' }));
    const headers = { 'content-type': 'application/json', ...version };
    const body = JSON.stringify(say('stream'));
    await (
      await answer(new Request('https://a.test/message:stream', { method: 'POST', headers, body }))
    ).text();
    const passages = recordsIn(tape);
    expect(passages.map(({ kind }) => kind)).toEqual([
      'request',
      'response',
      ...Array(8).fill('frame'),
      'end',
    ]);
    expect(passages[0]?.http?.url).toBe('https://a.test/message:stream');
  });

  it('goes on when whoever watches fails', async () => {
    await using server = await running({});
    const failing = await serve(sampleAgent(), {
      onTraffic: () => ({
        replied: () => {
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
    expect(server.tape.lastSequence).toBe(0);
  });
});
