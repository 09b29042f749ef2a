import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../../../src/client/connect.ts';
import { defineAgent } from '../../../src/engine/index.ts';
import { type RunningServer, serve } from '../../../src/server/index.ts';

/** Works until it is canceled. */
const agent = defineAgent({
  name: 'Slow',
  description: 'Never finishes by itself',
  process: ({ signal }) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
});

let origin: RunningServer;
let gateway: RunningServer;
const upstream = () => connect(origin.url, { versions: ['1.0'] });

beforeAll(async () => {
  origin = await serve(agent);
  gateway = await serve(upstream());
});

afterAll(async () => {
  await gateway.stop(0);
  await origin.stop(0);
  await agent.close();
});

async function post(url: string, method: string, params: object): Promise<any> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 3, method, params }),
  });
  return response.json();
}

describe.each([
  ['a server', () => origin.url],
  ['a proxy to a 1.0 agent', () => gateway.url],
])('tasks/send with blocking: false to %s', (_what, url) => {
  it('returns the running task, which can be canceled immediately', async () => {
    const id = `test-cancel-${crypto.randomUUID()}`;
    const sent = await post(url(), 'tasks/send', {
      id,
      sessionId: `session-${id}`,
      message: { role: 'user', parts: [{ type: 'text', text: 'Work for an hour' }] },
      configuration: { blocking: false },
    });
    expect(sent.result.id).toBe(id);
    expect(['submitted', 'working']).toContain(sent.result.status.state);
    const canceled = await post(url(), 'tasks/cancel', { id: sent.result.id });
    expect(canceled.result).toMatchObject({ id, status: { state: 'canceled' } });
  });
});

describe('returnImmediately of a 0.1 client', () => {
  it('returns the running task, which can be canceled immediately', async () => {
    await using client = connect(origin.url, { versions: ['0.1'] });
    const message = { messageId: 'm', role: 'user' as const, parts: [{ text: 'Work for an hour' }] };
    const sent = await client.send({ message, configuration: { returnImmediately: true } });
    if (!('status' in sent)) throw new Error('no task');
    expect(['submitted', 'working']).toContain(sent.status.state);
    expect(await client.cancelTask({ id: sent.id })).toMatchObject({ status: { state: 'canceled' } });
  });
});
