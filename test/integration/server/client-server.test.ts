import { connect as dial, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type ConnectOptions,
  connect,
  createEndpointCache,
  type ClientWarning,
} from '../../../src/client/index.ts';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import type { Agent } from '../../../src/protocol/agent.ts';
import type { StreamEvent } from '../../../src/protocol/event.ts';
import { textOf } from '../../../src/protocol/part.ts';
import { reduce } from '../../../src/protocol/reduce.ts';
import type { Task } from '../../../src/protocol/task.ts';
import { serve } from '../../../src/server/node/serve.ts';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** Creates an agent that sends its second half only after `release`. */
function pausingAgent() {
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const agent = defineAgent({
    name: 'Halves',
    description: 'Says it in two halves',
    pushNotifications: true,
    async *process({ message }) {
      const text = textOf(message.parts);
      yield { artifact: { artifactId: 'a', parts: [{ text: 'one ' }] } };
      yield { artifact: { artifactId: 'a', parts: [{ text: 'two ' }] }, append: true };
      if (text === 'wait') await released;
      yield { artifact: { artifactId: 'a', parts: [{ text: 'three ' }] }, append: true };
      yield { artifact: { artifactId: 'a', parts: [{ text }] }, append: true };
    },
  });
  ends.push(async () => release());
  return { agent, release };
}

async function serveAgent(agent: Agent): Promise<string> {
  const server = await serve(agent);
  ends.push(() => server.stop(0));
  return server.url;
}

/** Starts a TCP proxy whose connections can be closed. */
async function startTcpProxy(to: string): Promise<{ url: string; disconnect(): void }> {
  const { port } = new URL(to);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = dial(Number(port), '127.0.0.1');
    for (const each of [client, upstream]) {
      sockets.add(each);
      each.on('error', () => {});
      each.on('close', () => sockets.delete(each));
    }
    client.pipe(upstream);
    upstream.pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const disconnect = () => {
    for (const each of sockets) each.destroy();
  };
  ends.push(async () => {
    server.close();
    disconnect();
  });
  return { url: `http://127.0.0.1:${(server.address() as { port: number }).port}`, disconnect };
}

const say = (text: string) => ({
  message: { messageId: crypto.randomUUID(), role: 'user' as const, parts: [{ text }] },
});

const artifactText = (events: StreamEvent[]) =>
  textOf((reduce(events) as Task).artifacts?.flatMap(({ parts }) => parts) ?? []);

const variants: [string, ConnectOptions][] = [
  ['1.0 over JSON-RPC', { versions: ['1.0'], transports: ['JSONRPC'] }],
  ['1.0 over REST', { versions: ['1.0'], transports: ['HTTP+JSON'] }],
  ['0.3 over JSON-RPC', { versions: ['0.3'], transports: ['JSONRPC'] }],
  ['0.3 over REST', { versions: ['0.3'], transports: ['HTTP+JSON'] }],
  ['0.1', { versions: ['0.1'] }],
];

describe.each(variants)('client and server in %s', (_name, options) => {
  it('lose and repeat no event when the connection is closed', async () => {
    const { agent, release } = pausingAgent();
    const proxy = await startTcpProxy(await serveAgent(agent));
    const warnings: ClientWarning[] = [];
    const remote = connect(proxy.url, {
      ...options,
      random: () => 0,
      endpointCache: createEndpointCache(),
      onWarning: (warning) => warnings.push(warning),
    });
    ends.push(() => remote.close());
    const events: StreamEvent[] = [];
    for await (const event of remote.stream(say('wait'))) {
      events.push(event);
      if (event.kind !== 'artifact' || textOf(event.artifact.parts) !== 'two ') continue;
      proxy.disconnect();
      release();
    }
    expect(artifactText(events)).toBe('one two three wait');
    expect(events.filter(({ kind }) => kind === 'task')).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ kind: 'status', status: { state: 'completed' } });
    expect(warnings.map(({ kind }) => kind)).toContain('resume');
  });

  it('serves a remote agent of another server', async () => {
    const first = connect(await serveAgent(pausingAgent().agent), {
      ...options,
      endpointCache: createEndpointCache(),
    });
    const second = connect(await serveAgent({ ...first }), {
      ...options,
      endpointCache: createEndpointCache(),
    });
    ends.push(
      () => first.close(),
      () => second.close(),
    );
    const events: StreamEvent[] = [];
    for await (const event of second.stream(say('hi'))) events.push(event);
    expect(artifactText(events)).toBe('one two three hi');
    const sent = (await second.send(say('hi'))) as Task;
    expect(sent.status.state).toBe('completed');
    expect(await second.getTask({ id: sent.id })).toMatchObject({ id: sent.id, contextId: sent.contextId });
    await expect(second.getTask({ id: 'unknown' })).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
    await expect(second.cancelTask({ id: sent.id })).rejects.toMatchObject({ reason: 'TASK_NOT_CANCELABLE' });
  });
});

describe.each(variants)('0.1 client, gateway and agent in %s', (_name, options) => {
  it('keep the task id and session of the client', async () => {
    const inner = connect(await serveAgent(pausingAgent().agent), {
      ...options,
      endpointCache: createEndpointCache(),
    });
    const outer = connect(await serveAgent(inner), {
      versions: ['0.1'],
      endpointCache: createEndpointCache(),
    });
    ends.push(
      () => inner.close(),
      () => outer.close(),
    );
    const withTaskId = { ...say('hi'), clientTaskId: 'mine' };
    const task = (await outer.send({
      ...withTaskId,
      message: { ...withTaskId.message, contextId: 'session' },
    })) as Task;
    expect(task).toMatchObject({ id: 'mine', contextId: 'session', status: { state: 'completed' } });
    expect(await outer.getTask({ id: 'mine' })).toMatchObject({ id: 'mine', contextId: 'session' });
  });
});
