/** A card cannot direct credentials to other origins, cause many requests, or make the client hold large events. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { connect } from '../../src/client/connect.ts';
import { bearer } from '../../src/client/credentials.ts';
import { DestinationPolicy } from '../../src/client/http/destination-policy.ts';
import { FrameTooLargeError, SseParser } from '../../src/primitives/formats/sse.ts';
import { measureGrowth } from '../support/growth.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const each of servers.splice(0)) {
    each.close();
    each.closeAllConnections();
  }
});

async function listen(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(handle);
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function cardServer(urls: readonly string[]): Promise<string> {
  return listen((request, response) => {
    response.statusCode = request.method === 'GET' ? 200 : 404;
    const supportedInterfaces = urls.map((url) => ({
      url,
      protocolBinding: 'JSONRPC',
      protocolVersion: '1.0',
    }));
    response.end(JSON.stringify({ name: 'Card', supportedInterfaces, capabilities: {} }));
  });
}

describe('credentials', () => {
  const secrets = { auth: bearer('secret-token'), headers: { 'X-Team-Key': 'secret-header' } };

  async function callThroughCard(
    options: object,
  ): Promise<{ seen: IncomingMessage[]; call: Promise<unknown> }> {
    const seen: IncomingMessage[] = [];
    const other = await listen((request, response) => {
      seen.push(request);
      response.statusCode = request.headers.authorization ? 200 : 401;
      response.end(
        JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          result: { id: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } },
        }),
      );
    });
    const agent = connect(await cardServer([other]), {
      ...secrets,
      ...options,
      ...('allow' in options && { credentialOrigins: [other] }),
    });
    return { seen, call: agent.getTask({ id: 't' }) };
  }

  it('are not sent to another origin that the card names', async () => {
    const { seen, call } = await callThroughCard({});
    await expect(call).rejects.toMatchObject({
      reason: 'UNAUTHENTICATED',
      hint: expect.stringContaining('credentialOrigins') as string,
    });
    expect(seen.length).toBeGreaterThan(0);
    for (const { headers } of seen) expect(JSON.stringify(headers)).not.toContain('secret');
  });

  it('are sent to another origin that the caller allows', async () => {
    const { seen, call } = await callThroughCard({ allow: true });
    await expect(call).resolves.toMatchObject({ id: 't' });
    expect(seen[0]?.headers).toMatchObject({
      authorization: 'Bearer secret-token',
      'x-team-key': 'secret-header',
    });
  });

  it('stay at the origins of the caller', () => {
    const typed = (url: string, origins: readonly string[] | 'any' = []) => {
      const policy = new DestinationPolicy(false, origins);
      policy.trust(url);
      return policy;
    };
    const https = typed('https://a.example/agent');
    expect(https.mayReceiveCredentials('https://a.example')).toBe(true);
    expect(https.mayReceiveCredentials('https://a.example:8443')).toBe(false);
    expect(https.mayReceiveCredentials('https://b.example')).toBe(false);
    expect(https.mayReceiveCredentials('http://a.example')).toBe(false);
    const any = typed('https://a.example', 'any');
    expect(any.mayReceiveCredentials('https://b.example')).toBe(true);
    expect(any.mayReceiveCredentials('http://a.example')).toBe(false);
    expect(typed('https://a.example', ['http://b.example/']).mayReceiveCredentials('http://b.example')).toBe(
      false,
    );
    expect(typed('http://a.example', ['http://b.example/']).mayReceiveCredentials('http://b.example')).toBe(
      true,
    );
    const local = typed('http://localhost:4000');
    expect(local.mayReceiveCredentials('http://127.0.0.1:4000')).toBe(true);
    expect(local.mayReceiveCredentials('http://127.0.0.1:4001')).toBe(false);
    expect(() => typed('http://a.example', ['b.example'])).toThrow('credentialOrigins');
  });
});

it('tries at most 16 endpoints of a card', async () => {
  let requests = 0;
  const other = await listen((_request, response) => {
    requests++;
    response.statusCode = 404;
    response.end();
  });
  const agent = connect(await cardServer(Array.from({ length: 10_000 }, (_, i) => `${other}/${i}`)));
  await expect(agent.getTask({ id: 't' })).rejects.toMatchObject({ name: 'A2AError' });
  await agent.close();
  expect(requests).toBeLessThanOrEqual(16);
});

describe('the parser of event streams', () => {
  const encoder = new TextEncoder();

  it.each(['data:\n', 'data\n', 'event: x\n', 'id: 1\n', 'unknown: x\n'])(
    'rejects an event of any number of %j lines',
    (line) => {
      const parser = new SseParser({ event: () => {} }, 10_000);
      expect(() => parser.push(encoder.encode(line.repeat(10_000)))).toThrow(FrameTooLargeError);
    },
  );

  it('accepts any number of comments and short events', () => {
    let count = 0;
    const parser = new SseParser({ event: () => void count++ }, 100);
    for (let i = 0; i < 1_000; i++) parser.push(encoder.encode(': heartbeat\n\ndata: 1\n\n'));
    expect(count).toBe(1_000);
  });

  it('joins a line that arrives byte by byte', () => {
    const data: string[] = [];
    const parser = new SseParser({ event: (event) => void data.push(event.data) });
    const text = 'x'.repeat(5_000);
    for (const byte of encoder.encode(`data: ${text}\n\n`)) parser.push(Uint8Array.of(byte));
    expect(data).toEqual([text]);
  });

  it('reads lines without a colon in linear time', async () => {
    const read = (lines: number) =>
      new SseParser({ event: () => {} }).push(encoder.encode('x\n'.repeat(lines)));
    expect(await measureGrowth(read, { small: 50_000, large: 200_000 })).toBeLessThan(10);
  });
});
