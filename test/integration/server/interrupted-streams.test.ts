import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { connect } from '../../../src/client/connect.ts';
import type { ConnectOptions } from '../../../src/client/connect-options.ts';
import type { Clock } from '../../../src/primitives/clock.ts';
import type { StreamEvent } from '../../../src/protocol/event.ts';

type Reply = (response: ServerResponse, result: (value: unknown) => string) => void;

/** Behavior of the agent per method. */
let replies: Record<string, Reply>;
let methods: string[];
const server = createServer((request, response) => {
  if (request.method === 'GET') {
    const supportedInterfaces = [{ url: '/', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }];
    response.end(JSON.stringify({ name: 'Agent', supportedInterfaces, capabilities: { streaming: true } }));
    return;
  }
  let text = '';
  request.on('data', (chunk: Buffer) => (text += chunk.toString()));
  request.on('end', () => {
    const { id, method } = JSON.parse(text) as { id: number; method: string };
    methods.push(method);
    const reply = replies[method];
    if (reply) reply(response, (value) => JSON.stringify({ jsonrpc: '2.0', id, result: value }));
    else response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Not found' } }));
  });
});
beforeEach(async () => {
  methods = [];
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const message = { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'hi' }] };
const task = (state: string) => ({
  id: 't-1',
  contextId: 'c-1',
  status: { state: `TASK_STATE_${state}` },
  history: [message],
});
const sse = (response: ServerResponse) => response.setHeader('content-type', 'text/event-stream');

/** Sends the headers of a stream and interrupts it. */
const cut: Reply = (response) => {
  sse(response).flushHeaders();
  setImmediate(() => response.destroy());
};
/** Interrupts the connection before the response. */
const cutBeforeResponse: Reply = (response) => void response.destroy();

async function stream(options: ConnectOptions = {}): Promise<StreamEvent[]> {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await using agent = connect(url, { random: () => 0, ...options });
  const events: StreamEvent[] = [];
  const request = { message: { messageId: 'm-1', role: 'user' as const, parts: [{ text: 'hi' }] } };
  for await (const event of agent.stream(request)) events.push(event);
  return events;
}

it.each([
  ['before its first event', cut],
  ['before the response', cutBeforeResponse],
])(
  'continues a stream that is interrupted %s without sending the message again',
  async (_when, interrupt) => {
    replies = {
      SendStreamingMessage: interrupt,
      ListTasks: (response, result) => response.end(result({ tasks: [task('WORKING')], nextPageToken: '' })),
      SubscribeToTask: (response, result) =>
        sse(response).end(
          `data: ${result({ task: task('WORKING') })}\n\ndata: ${result({
            statusUpdate: { taskId: 't-1', contextId: 'c-1', status: { state: 'TASK_STATE_COMPLETED' } },
          })}\n\n`,
        ),
    };
    const events = await stream();
    expect(events.at(-1)).toMatchObject({ kind: 'status', status: { state: 'completed' } });
    expect(methods).toEqual(['SendStreamingMessage', 'ListTasks', 'SubscribeToTask']);
  },
);

it('rejects if the agent does not know the task of the interrupted stream', async () => {
  replies = {
    SendStreamingMessage: cut,
    ListTasks: (response, result) => response.end(result({ tasks: [], nextPageToken: '' })),
  };
  await expect(stream()).rejects.toMatchObject({ reason: 'UNAVAILABLE' });
  expect(methods).toEqual(['SendStreamingMessage', 'ListTasks']);
});

/** Clock whose short timers fire at once; its time advances by their delay. */
function skippingClock(): Clock & { readonly elapsed: number } {
  let now = 1_000_000;
  return {
    get elapsed() {
      return now - 1_000_000;
    },
    now: () => now,
    monotonic: () => now,
    after(milliseconds, run) {
      if (milliseconds > 10_000) return () => {};
      const immediate = setImmediate(() => {
        now += milliseconds;
        run();
      });
      return () => clearImmediate(immediate);
    },
    every: () => () => {},
  };
}

it.each<[string, Partial<ConnectOptions>, number]>([
  ['30 seconds', {}, 30_000],
  ['the time of the option', { timeouts: { resume: 5_000 } }, 5_000],
])('tries to resume an interrupted stream for %s', async (_name, options, expectedTime) => {
  replies = {
    SendStreamingMessage: (response, result) => {
      sse(response).write(`data: ${result({ task: task('WORKING') })}\n\n`);
      setImmediate(() => response.destroy());
    },
    SubscribeToTask: cutBeforeResponse,
  };
  const clock = skippingClock();
  await expect(stream({ clock, random: () => 1, ...options })).rejects.toMatchObject({
    message: expect.stringContaining('could not be resumed') as string,
  });
  expect(clock.elapsed).toBeGreaterThanOrEqual(expectedTime);
  expect(clock.elapsed).toBeLessThan(expectedTime + 5_000);
});
