import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { egressPolicy } from '../../egress/egress-policy.ts';
import type { AttemptOutcome } from '../push-options.ts';
import { LazyTracing } from '../../tracing/tracing.ts';
import { createSender } from './sender.ts';

const servers: { close(): void }[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function startWebhook(status: number): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(status).end();
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

describe('createSender', () => {
  it.each([
    [204, true, 'delivered'],
    [500, true, 'retried'],
    [410, true, 'dropped'],
    [204, false, 'refused'],
  ] as const)('reports HTTP %i (loopback allowed: %s) as %s', async (status, allowLoopback, outcome) => {
    const policy = egressPolicy({ allowLoopback });
    const outcomes: AttemptOutcome[] = [];
    const send = createSender(policy, {
      now: Date.now,
      onAttempt: (each) => outcomes.push(each),
      tracing: new LazyTracing(false),
    });
    const notification = { id: 'd-1', url: await startWebhook(status), headers: {}, body: '{}' };
    const origin = { taskId: 't-1', resends: 0, trace: () => undefined };
    await send(notification as never, new AbortController().signal, origin);
    policy.close();
    expect(outcomes).toEqual([outcome]);
  });
});
