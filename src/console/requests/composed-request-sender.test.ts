import { expect, it } from 'vitest';
import { undiciHttpClient } from '../../client/http/undici-driver.ts';
import { serve } from '../../server/node/serve.ts';
import { DecodeQueue } from '../../tap/recorders/decode-queue.ts';
import { TrafficLog } from '../../tap/traffic-log.ts';
import { defineAgent } from '../../engine/local-agent.ts';
import { ConsoleAgent } from '../agents/console-agent.ts';
import { ComposedRequestSender } from './composed-request-sender.ts';

it('aborts a response over the limit, and records what it received', async () => {
  const agent = defineAgent({ name: 'A', description: 'A', process: () => 'x' });
  const server = await serve(agent);
  const http = undiciHttpClient({ connectTimeout: 5_000, maxConnections: 2 });
  const info = { id: 'a', url: server.url, name: 'A', credentials: undefined, isRemovable: true };
  const target = new ConsoleAgent(info, { http, quietHttp: http });
  const log = new TrafficLog();
  const input = { method: 'GET' as const, url: `${server.url}/.well-known/agent-card.json`, headers: [] };
  const sender = (maxResponseBytes: number) =>
    new ComposedRequestSender({ http, trafficLog: undefined, nameAt: () => 'A', maxResponseBytes });
  try {
    await sender(100_000).send(target, input, new TrafficLog(), new AbortController().signal);
    await expect(sender(10).send(target, input, log, new AbortController().signal)).rejects.toThrow(
      'The response has more than 10 bytes and was aborted',
    );
    DecodeQueue.of(log).drain();
    expect(log.recordsAfter().map(({ kind }) => kind)).toEqual(['request', 'response', 'end']);
  } finally {
    await target.close();
    await http.close();
    await server.stop(0);
    await agent.close();
  }
});
