/** JSON with many levels or members is rejected before it is parsed. */
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { connect } from '../../src/client/connect.ts';
import { defineAgent } from '../../src/engine/local-agent.ts';
import { readRequest } from '../../src/mesh/rpc-envelope.ts';
import type { Message } from '../../src/protocol/message.ts';
import { A2AError } from '../../src/protocol/errors.ts';
import { readNotification } from '../../src/push/receiving/read-notification.ts';
import { findExceededLimit } from '../../src/primitives/json-limits.ts';
import { parseUntrustedJson } from '../../src/server/http/parse-json.ts';
import { serve, type RunningServer } from '../../src/server/node/serve.ts';
import { measureGrowth } from '../support/growth.ts';

const brackets = '['.repeat(9_900_000);
const members = `{${Array.from({ length: 700_000 }, (_, i) => `"k${i}":1`).join(',')}}`;

describe('a server', () => {
  let server: RunningServer;
  beforeAll(async () => {
    const agent = defineAgent({ name: 'Echo', description: 'Repeats', process: ({ text }) => text });
    server = await serve(agent, { port: 0 });
  });
  afterAll(() => server.stop(0));

  it.each([
    ['levels', brackets, 'JSON nesting exceeds 100 levels'],
    ['members', members, 'JSON has more than 250000 objects, arrays and members'],
  ])('rejects a body with too many %s', async (_name, body, message) => {
    const headers = { 'content-type': 'application/json' };
    for (const path of ['/', '/message:send']) {
      const response = await fetch(server.url + path, { method: 'POST', headers, body });
      expect(await response.text()).toContain(message);
    }
  });
});

describe('the parser', () => {
  it.each([
    ['levels', brackets],
    ['members', members],
  ])('rejects too many %s without parsing them', (_name, text) => {
    const parse = vi.spyOn(JSON, 'parse');
    try {
      expect(() => parseUntrustedJson(text)).toThrow(A2AError);
      expect(() => readNotification(text.replace('{', '{"a":['.repeat(1_001)))).toThrow(A2AError);
      expect(() => readRequest('['.repeat(100_000))).toThrow(A2AError);
      expect(parse).not.toHaveBeenCalled();
    } finally {
      parse.mockRestore();
    }
  });

  it('accepts large bodies with few members', () => {
    const body = { text: 'x'.repeat(1_000_000), data: Array.from({ length: 200_000 }, (_, i) => i) };
    expect(parseUntrustedJson(JSON.stringify(body))).toEqual(body);
  });
});

it.each<[string, (size: number) => string]>([
  ['open brackets', (size) => '['.repeat(size)],
  ['quotes', (size) => '"'.repeat(size)],
  ['backslashes', (size) => `"${'\\'.repeat(size)}`],
  ['members', (size) => '"k":1,'.repeat(size / 6)],
])('scans %s in linear time', async (_name, text) => {
  const limits = { depth: Infinity, members: Infinity };
  const texts = new Map([1_000_000, 4_000_000].map((size) => [size, text(size)]));
  const scan = (size: number) => findExceededLimit(texts.get(size) ?? '', limits);
  expect(await measureGrowth(scan, { small: 1_000_000, large: 4_000_000 })).toBeLessThan(10);
});

it('ignores brackets and colons inside of strings', () => {
  const limits = { depth: 3, members: 4 };
  const scan = (value: unknown) => findExceededLimit(JSON.stringify(value), limits);
  expect(scan({ a: '[[[[{{{{::::' })).toBeUndefined();
  expect(scan({ a: 'quoted \\"[[[[ \\\\', b: '\\' })).toBeUndefined();
  expect(scan([[[1, 2, 3, 4, 5]]])).toBeUndefined();
  expect(scan([[[[]]]])).toBe('depth');
  expect(scan({ a: 1, b: 2, c: 3, d: 4 })).toBe('members');
  expect(scan([[], [], [], []])).toBe('members');
  expect(findExceededLimit('"[[[[', limits)).toBeUndefined();
});

describe('the client', () => {
  const deep = '['.repeat(50_000) + ']'.repeat(50_000);
  const result = `{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"},"metadata":{"deep":${deep}}}}`;
  const card = {
    name: 'Deep',
    capabilities: { streaming: true },
    supportedInterfaces: [{ url: '/', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  };
  const server = createServer((request, response) => {
    if (request.method === 'GET') return void response.end(JSON.stringify(card));
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      const { id, method } = JSON.parse(text) as { id: unknown; method: string };
      const body = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
      const isStream = method === 'SendStreamingMessage';
      response.setHeader('content-type', isStream ? 'text/event-stream' : 'application/json');
      response.end(isStream ? `data: ${body}\n\n` : body);
    });
  });
  beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'));
  afterAll(() => void server.close());

  const message: Message = { messageId: 'm', role: 'user', parts: [{ text: 'hi' }] };

  it('rejects a deep response with an A2AError', async () => {
    await using agent = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    await expect(agent.send({ message })).rejects.toMatchObject({ name: 'A2AError' });
  });

  it('skips a deep event and ends with an A2AError', async () => {
    await using agent = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {
      maxResumes: 0,
    });
    const read = async () => {
      for await (const _event of agent.stream({ message }));
    };
    await expect(read()).rejects.toMatchObject({ name: 'A2AError' });
  });
});
