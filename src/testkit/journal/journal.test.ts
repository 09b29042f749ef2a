import { afterEach, beforeEach, describe, expect, it } from 'vitest';
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

async function ask(method: string, text = 'hi', headers: object = {}): Promise<string> {
  const message = {
    kind: 'message',
    messageId: 'm-1',
    role: 'user',
    contextId: 'c-1',
    parts: [{ kind: 'text', text }],
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method, params: { message } });
  const answer = await fetch(`${server.url}/?a=b`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body,
  });
  return answer.text();
}

describe('the journal', () => {
  it('keeps a request and its answer', async () => {
    server.prime([completed]);
    const text = await ask('message/send', 'hi', { Authorization: 'Bearer secret' });
    const [entry] = await server.waitFor({ operation: 'send' }, { answered: true });
    expect(entry).toMatchObject({
      id: 1,
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      answeredBy: 'agent',
      origin: 'primed responses',
      request: {
        method: 'POST',
        path: '/',
        query: { a: 'b' },
        headers: { authorization: 'Bearer secret', 'content-type': 'application/json' },
        json: { id: 7, method: 'message/send' },
        isCut: false,
      },
      call: {
        operation: 'send',
        version: '0.3',
        transport: 'JSONRPC',
        messageId: 'm-1',
        contextId: 'c-1',
        taskId: expect.any(String),
      },
      answer: {
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: text,
        frames: undefined,
        end: 'finished',
      },
    });
    expect(JSON.parse(entry?.request.body ?? '')).toEqual(entry?.request.json);
    expect(entry?.request.headers).not.toHaveProperty('x-testkit-exchange');
  });

  it('keeps the events of a stream', async () => {
    server.prime([completed]);
    await ask('message/stream');
    const [entry] = await server.waitFor({ operation: 'stream' }, { answered: true });
    expect(entry?.response?.frames).toMatchObject([
      { id: 7, result: { kind: 'task', status: { state: 'completed' } } },
    ]);
    expect(entry?.response?.end).toBe('finished');
  });

  it('knows who called, and keeps the credentials that a gate took away', async () => {
    await server.stop();
    await start({ auth: { authenticators: [bearerAuth({ tokens: { secret: { id: 'alice' } } } as never)] } });
    server.prime([completed]);
    expect(await ask('message/send', 'hi')).toContain('error');
    await ask('message/send', 'hi', { Authorization: 'Bearer secret' });
    const [entry] = await server.waitFor({ operation: 'send' }, { answered: true });
    expect(entry?.call?.principal?.id).toBe('alice');
    expect(entry?.request.headers.authorization).toBe('Bearer secret');
    expect(server.journal.entries({ status: 401 })).toHaveLength(1);
  });

  it('keeps what nobody understood', async () => {
    await fetch(server.url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{' });
    const [entry] = await server.waitFor({}, { answered: true });
    expect(entry).toMatchObject({ call: undefined, request: { body: '{', json: undefined } });
  });

  it('keeps the three rules that came closest to a message that none matched', async () => {
    const rule = (name: string): string =>
      `  - name: ${name}\n    when: { text: "${name}" }\n    then: [{ complete: yes }]\n`;
    server.load(`rules:\n${['a', 'b', 'c', 'd'].map(rule).join('')}`);
    expect(await ask('message/send', 'none of these')).toContain(
      'No rule of the script matches this message.',
    );
    const [entry] = server.journal.entries({ unmatched: true });
    expect(entry?.unmatched).toHaveLength(3);
    expect(entry?.unmatched?.[0]?.differences[0]).toContain('none of these');
  });

  it('is filtered, waited for and cleared', async () => {
    server.prime([completed]);
    const waiting = server.waitFor({ messageId: 'm-1' });
    await Promise.all([waiting, ask('message/send')]);
    await fetch(server.cardUrl);
    expect(server.journal.entries({ operation: 'card' })).toHaveLength(1);
    expect(server.requests({ method: 'GET' })).toHaveLength(1);
    expect(server.requests({ path: '/nowhere' })).toEqual([]);
    server.clearRequests();
    expect(server.journal.entries()).toEqual([]);
  });

  it('says what came instead of what was waited for', async () => {
    await server.stop();
    const clock = new VirtualClock();
    await start({ clock });
    await fetch(server.cardUrl);
    const waiting = server.waitFor({ operation: 'cancelTask' }, { timeout: 60_000 });
    const refused = expect(waiting).rejects.toThrow(
      /0 of 1 requests came within 60000 ms[^]*GET \/\.well-known\/agent-card\.json card/,
    );
    await clock.advance(60_000);
    await refused;
  });

  it('forgets what is oldest', async () => {
    await server.stop();
    await start({ journal: { maxEntries: 3, maxBodyBytes: 40 } });
    for (let i = 0; i < 5; i++) await ask('message/send', String(i));
    expect(server.journal.entries().map(({ id }) => id)).toEqual([3, 4, 5]);
    expect(server.lastRequest).toMatchObject({ isCut: true, json: undefined });
    expect(server.lastRequest?.body).toHaveLength(40);
    await server.stop();
    await start({ journal: { maxBytes: 5_000 } });
    for (let i = 0; i < 5; i++) await ask('message/send', 'x'.repeat(2_000));
    expect(server.journal.entries().length).toBeLessThan(3);
    expect(server.journal.last()?.id).toBe(5);
  });
});
