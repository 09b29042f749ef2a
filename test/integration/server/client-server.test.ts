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

/** An agent that waits to be let go on before its second half. */
function halves() {
  let letGo = (): void => {};
  const gate = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const agent = defineAgent({
    name: 'Halves',
    description: 'Says it in two halves',
    pushNotifications: true,
    async *process({ message }) {
      const text = textOf(message.parts);
      yield { artifact: { artifactId: 'a', parts: [{ text: 'one ' }] } };
      yield { artifact: { artifactId: 'a', parts: [{ text: 'two ' }] }, append: true };
      if (text === 'wait') await gate;
      yield { artifact: { artifactId: 'a', parts: [{ text: 'three ' }] }, append: true };
      yield { artifact: { artifactId: 'a', parts: [{ text: text }] }, append: true };
    },
  });
  ends.push(async () => letGo());
  return { agent, letGo };
}

async function shown(agent: Agent): Promise<string> {
  const server = await serve(agent);
  ends.push(() => server.stop(0));
  return server.url;
}

/** A wire that can be cut. */
async function wire(to: string): Promise<{ url: string; cut(): void }> {
  const { port } = new URL(to);
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = dial(Number(port), '127.0.0.1');
    for (const each of [near, far]) {
      sockets.add(each);
      each.on('error', () => {});
      each.on('close', () => sockets.delete(each));
    }
    near.pipe(far);
    far.pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    for (const each of sockets) each.destroy();
  };
  ends.push(async () => {
    server.close();
    cut();
  });
  return { url: `http://127.0.0.1:${(server.address() as { port: number }).port}`, cut };
}

const say = (text: string) => ({
  message: { messageId: crypto.randomUUID(), role: 'user' as const, parts: [{ text }] },
});

const wordsOf = (events: StreamEvent[]) =>
  textOf((reduce(events) as Task).artifacts?.flatMap(({ parts }) => parts) ?? []);

const ways: [string, ConnectOptions][] = [
  ['1.0 over JSON-RPC', { versions: ['1.0'], transports: ['JSONRPC'] }],
  ['1.0 over REST', { versions: ['1.0'], transports: ['HTTP+JSON'] }],
  ['0.3 over JSON-RPC', { versions: ['0.3'], transports: ['JSONRPC'] }],
  ['0.3 over REST', { versions: ['0.3'], transports: ['HTTP+JSON'] }],
  ['0.1', { versions: ['0.1'] }],
];

describe.each(ways)('our own client before our own server in %s', (_name, options) => {
  it('loses and repeats nothing when the wire is cut', async () => {
    const { agent, letGo } = halves();
    const line = await wire(await shown(agent));
    const problems: ClientWarning[] = [];
    const remote = connect(line.url, {
      ...options,
      random: () => 0,
      endpointCache: createEndpointCache(),
      onWarning: (problem) => problems.push(problem),
    });
    ends.push(() => remote.close());
    const events: StreamEvent[] = [];
    for await (const event of remote.stream(say('wait'))) {
      events.push(event);
      if (event.kind !== 'artifact' || textOf(event.artifact.parts) !== 'two ') continue;
      line.cut();
      letGo();
    }
    expect(wordsOf(events)).toBe('one two three wait');
    expect(events.filter(({ kind }) => kind === 'task')).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ kind: 'status', status: { state: 'completed' } });
    expect(problems.map(({ kind }) => kind)).toContain('resume');
  });

  it('is a link in a chain', async () => {
    const first = connect(await shown(halves().agent), { ...options, endpointCache: createEndpointCache() });
    const second = connect(await shown({ ...first }), { ...options, endpointCache: createEndpointCache() });
    ends.push(
      () => first.close(),
      () => second.close(),
    );
    const events: StreamEvent[] = [];
    for await (const event of second.stream(say('hi'))) events.push(event);
    expect(wordsOf(events)).toBe('one two three hi');
    const sent = (await second.send(say('hi'))) as Task;
    expect(sent.status.state).toBe('completed');
    expect(await second.getTask({ id: sent.id })).toMatchObject({ id: sent.id, contextId: sent.contextId });
    await expect(second.getTask({ id: 'nobody' })).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
    await expect(second.cancelTask({ id: sent.id })).rejects.toMatchObject({ reason: 'TASK_NOT_CANCELABLE' });
  });
});

describe.each(ways)(
  'a caller of 0.1 before a gateway before an agent that is asked in %s',
  (_name, options) => {
    it('keeps its own names', async () => {
      const inner = connect(await shown(halves().agent), {
        ...options,
        endpointCache: createEndpointCache(),
      });
      const outer = connect(await shown(inner), { versions: ['0.1'], endpointCache: createEndpointCache() });
      ends.push(
        () => inner.close(),
        () => outer.close(),
      );
      const claimed = { ...say('hi'), clientTaskId: 'mine' };
      const task = (await outer.send({
        ...claimed,
        message: { ...claimed.message, contextId: 'session' },
      })) as Task;
      expect(task).toMatchObject({ id: 'mine', contextId: 'session', status: { state: 'completed' } });
      expect(await outer.getTask({ id: 'mine' })).toMatchObject({ id: 'mine', contextId: 'session' });
    });
  },
);
