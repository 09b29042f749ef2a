import { describe, expect, it } from 'vitest';
import { sampleAgent } from '../../../test/interop/sample-agent.ts';
import { closeAfterEach } from '../../../test/support/close-after-each.ts';
import { summarizeRecords, recordsIn } from '../../../test/support/tap/traffic-log.ts';
import type { ConnectOptions } from '../../client/connect-options.ts';
import { connect } from '../../client/connect.ts';
import { createEndpointCache } from '../../client/discovery/endpoint-cache.ts';
import { undiciHttpClient } from '../../client/http/undici-driver.ts';
import { serve } from '../../server/node/serve.ts';
import { TrafficLog } from '../traffic-log.ts';
import { tapHttpClient } from './tap-http-client.ts';

const open = closeAfterEach();

const say = (text: string) => ({
  message: { messageId: crypto.randomUUID(), role: 'user' as const, parts: [{ text }] },
});

async function client(url: string, options: ConnectOptions = {}) {
  const log = new TrafficLog();
  const inner = undiciHttpClient({ connectTimeout: 1_000, maxConnections: 8 });
  const http = tapHttpClient(inner, log, { from: 'me', to: () => 'Sample' });
  const agent = connect(url, { http, endpointCache: createEndpointCache(), maxRetries: 0, ...options });
  open.push(agent, http);
  return { log, agent };
}

describe('tapHttpClient', () => {
  it('records requests, responses and stream ends', async () => {
    const server = await serve(sampleAgent());
    open.push({ close: () => server.stop(0) });
    const { log, agent } = await client(server.url);
    await agent.send(say('hello'));
    for await (const event of agent.stream(say('two'))) expect(event).toBeDefined();
    for await (const event of agent.stream(say('slow'))) if (event.kind === 'status') break;
    const lines = summarizeRecords(recordsIn(log));
    expect(lines.slice(0, 5)).toEqual([
      'request me → Sample - - get card',
      'response Sample → me 1.0 - card of Sample 1.2.3',
      'request me → Sample 1.0 JSONRPC send: hello',
      'response Sample → me 1.0 JSONRPC task completed: hello',
      'request me → Sample 1.0 JSONRPC stream: two',
    ]);
    expect(lines).toContain('end Sample → me 1.0 JSONRPC The stream ended');
    expect(lines.at(-1)).toBe('end Sample → me 1.0 JSONRPC The client disconnected');
  });

  it.each(['1.0', '0.3'] as const)('decodes gRPC of %s', async (version) => {
    const server = await serve(sampleAgent());
    open.push({ close: () => server.stop(0) });
    const { log, agent } = await client(server.url, { transports: ['GRPC'], versions: [version] });
    await agent.send(say('hello'));
    for await (const event of agent.stream(say('two'))) expect(event).toBeDefined();
    await expect(agent.getTask({ id: 'unknown' })).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
    for await (const event of agent.stream(say('slow'))) if (event.kind === 'status') break;
    const lines = summarizeRecords(recordsIn(log)).slice(2);
    expect(lines.slice(0, 3)).toEqual([
      `request me → Sample ${version} GRPC send: hello`,
      `response Sample → me ${version} GRPC task completed: hello`,
      `request me → Sample ${version} GRPC stream: two`,
    ]);
    expect(lines.filter((line) => line.startsWith('frame')).length).toBeGreaterThan(3);
    expect(lines).toContain(`end Sample → me ${version} GRPC The stream ended`);
    expect(lines.join('\n')).toMatch(/response Sample → me .* GRPC .*(?:not found|TASK_NOT_FOUND)/i);
    expect(lines.at(-1)).toBe(`end Sample → me ${version} GRPC The client disconnected`);
    expect(JSON.stringify(recordsIn(log))).not.toContain('bytes of application/grpc');
  });

  it('records the time at which each event was received', async () => {
    const encoder = new TextEncoder();
    let time = 100;
    const log = new TrafficLog();
    const http = tapHttpClient(
      {
        request: () =>
          Promise.resolve({
            status: 200,
            header: (name) => (name === 'content-type' ? 'text/event-stream' : undefined),
            text: () => Promise.reject(new Error('It is a stream')),
            async *chunks() {
              for (time of [200, 300, 400]) yield encoder.encode(`data: {"at":${time}}\n\n`);
            },
            discard() {},
          }),
        close: () => Promise.resolve(),
      },
      log,
      { from: 'me', now: () => time },
    );
    const response = await http.request({ method: 'POST', origin: 'http://a', path: '/', headers: {} });
    for await (const bytes of response.chunks()) expect(bytes).toBeDefined();
    const frames = recordsIn(log).filter(({ kind }) => kind === 'frame');
    expect(frames.map(({ at }) => at)).toEqual([200, 300, 400]);
  });

  it('records a refused connection as an abnormal end', async () => {
    const server = await serve(sampleAgent());
    await server.stop(0);
    const { log, agent } = await client(server.url);
    await expect(agent.card()).rejects.toThrow();
    const [request, end] = recordsIn(log);
    expect(request?.kind).toBe('request');
    expect(end).toMatchObject({
      kind: 'end',
      text: expect.stringContaining('ECONNREFUSED'),
      decoded: { isError: true },
    });
  });
});
