import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { vandalize } from '../../../test/support/vandalize.ts';
import { bearerAuth } from '../../server/auth/schemes/bearer.ts';
import { VirtualClock } from '../clock/virtual-clock.ts';
import type { TestAgentOptions } from '../test-agent-options.ts';
import { TestAgentServer } from '../test-agent-server.ts';

let server: TestAgentServer;
const start = async (options?: TestAgentOptions): Promise<void> => {
  server = await TestAgentServer.start(options);
};
beforeEach(() => start());
afterEach(() => server.stop());

const completed = { kind: 'task', status: { state: 'completed' } };

async function send(method: string, text = 'hi', headers: object = {}): Promise<string> {
  const message = {
    kind: 'message',
    messageId: 'm-1',
    role: 'user',
    contextId: 'c-1',
    parts: [{ kind: 'text', text }],
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method, params: { message } });
  const response = await fetch(`${server.url}/?a=b`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body,
  });
  return response.text();
}

describe('Journal', () => {
  it('keeps its entries unchanged when a reader modifies them', async () => {
    await send('message/send');
    await server.waitFor({}, { completed: true });
    const before = JSON.stringify(server.journal.entries());
    vandalize(server.journal.entries());
    vandalize(server.journal.requests());
    vandalize(server.journal.entry(1));
    vandalize(server.journal.last());
    vandalize(await server.waitFor({}));
    expect(JSON.stringify(server.journal.entries())).toBe(before);
  });

  it('records a request and its response', async () => {
    server.prime([completed]);
    const text = await send('message/send', 'hi', { Authorization: 'Bearer secret' });
    const [entry] = await server.waitFor({ operation: 'send' }, { completed: true });
    expect(entry).toMatchObject({
      id: 1,
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      responseOrigin: 'agent',
      origin: 'primed responses',
      request: {
        method: 'POST',
        path: '/',
        query: { a: 'b' },
        headers: { authorization: 'Bearer secret', 'content-type': 'application/json' },
        json: { id: 7, method: 'message/send' },
        isTruncated: false,
      },
      call: {
        operation: 'send',
        version: '0.3',
        transport: 'JSONRPC',
        messageId: 'm-1',
        contextId: 'c-1',
        taskId: expect.any(String),
      },
      response: {
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: text,
        frames: undefined,
        end: 'finished',
      },
    });
    expect(JSON.parse(entry?.request.body ?? '')).toEqual(entry?.request.json);
    expect(entry?.request.headers).not.toHaveProperty('x-testkit-capture-id');
  });

  it('records the events of a stream', async () => {
    server.prime([completed]);
    await send('message/stream');
    const [entry] = await server.waitFor({ operation: 'stream' }, { completed: true });
    expect(entry?.response?.frames).toMatchObject([
      { id: 7, result: { kind: 'task', status: { state: 'completed' } } },
    ]);
    expect(entry?.response?.end).toBe('finished');
  });

  it('records the principal and the credentials of authenticated requests', async () => {
    await server.stop();
    await start({ auth: { authenticators: [bearerAuth({ tokens: { secret: { id: 'alice' } } } as never)] } });
    server.prime([completed]);
    expect(await send('message/send', 'hi')).toContain('error');
    await send('message/send', 'hi', { Authorization: 'Bearer secret' });
    const [entry] = await server.waitFor({ operation: 'send' }, { completed: true });
    expect(entry?.call?.principal?.id).toBe('alice');
    expect(entry?.request.headers.authorization).toBe('Bearer secret');
    expect(server.journal.entries({ status: 401 })).toHaveLength(1);
  });

  it('records requests that cannot be decoded', async () => {
    await fetch(server.url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{' });
    const [entry] = await server.waitFor({}, { completed: true });
    expect(entry).toMatchObject({ call: undefined, request: { body: '{', json: undefined } });
  });

  it('records the three closest rules of an unmatched message', async () => {
    const rule = (name: string): string =>
      `  - name: ${name}\n    when: { text: "${name}" }\n    then: [{ complete: yes }]\n`;
    server.load(`rules:\n${['a', 'b', 'c', 'd'].map(rule).join('')}`);
    expect(await send('message/send', 'none of these')).toContain(
      'No rule of the mock script matches this message.',
    );
    const [entry] = server.journal.entries({ unmatched: true });
    expect(entry?.unmatched).toHaveLength(3);
    expect(entry?.unmatched?.[0]?.mismatches[0]).toContain('none of these');
  });

  it('filters, waits for and clears entries', async () => {
    server.prime([completed]);
    const waiting = server.waitFor({ messageId: 'm-1' });
    await Promise.all([waiting, send('message/send')]);
    await fetch(server.cardUrl);
    expect(server.journal.entries({ operation: 'card' })).toHaveLength(1);
    expect(server.requests({ method: 'GET' })).toHaveLength(1);
    expect(server.requests({ path: '/nowhere' })).toEqual([]);
    server.clearRequests();
    expect(server.journal.entries()).toEqual([]);
  });

  it('lists the latest requests when waitFor times out', async () => {
    await server.stop();
    const clock = new VirtualClock();
    await start({ clock });
    await fetch(server.cardUrl);
    const waiting = server.waitFor({ operation: 'cancelTask' }, { timeout: 60_000 });
    const rejected = expect(waiting).rejects.toThrow(
      /0 of 1 requests arrived within 60000 ms[^]*GET \/\.well-known\/agent-card\.json card/,
    );
    await clock.advance(60_000);
    await rejected;
  });

  it('evicts the oldest entries and truncates long bodies', async () => {
    await server.stop();
    await start({ journal: { maxEntries: 3, maxBodyBytes: 40 } });
    for (let i = 0; i < 5; i++) await send('message/send', String(i));
    expect(server.journal.entries().map(({ id }) => id)).toEqual([3, 4, 5]);
    expect(server.lastRequest).toMatchObject({ isTruncated: true, json: undefined });
    expect(server.lastRequest?.body).toHaveLength(40);
    await server.stop();
    await start({ journal: { maxBytes: 5_000 } });
    for (let i = 0; i < 5; i++) await send('message/send', 'x'.repeat(2_000));
    expect(server.journal.entries().length).toBeLessThan(3);
    expect(server.journal.last()?.id).toBe(5);
  });
});
