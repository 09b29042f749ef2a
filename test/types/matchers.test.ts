/** Type checks of the matchers: an expected type error that does not occur fails the type check. */
import { describe, expect, expectTypeOf } from 'vitest';
import { connect } from '../../src/client/connect.ts';
import type { StreamEvent } from '../../src/protocol/event.ts';
import type { Task } from '../../src/protocol/task.ts';
import type { TestAgentServer } from '../../src/testkit/test-agent-server.ts';
import { agentTest } from '../../src/testkit/vitest.ts';

const textMessage = (text: string) => ({
  message: { messageId: crypto.randomUUID(), role: 'user' as const, parts: [{ text }] },
});
const urls = new Set<string>();

describe('matchers of expect', () => {
  agentTest('check streams, artifacts and requests', async ({ agent }) => {
    expectTypeOf(agent).toEqualTypeOf<TestAgentServer>();
    urls.add(agent.url);
    agent.prime([
      { kind: 'artifact-update', artifact: { artifactId: 'a', parts: [{ kind: 'text', text: 'one' }] } },
      { kind: 'status-update', status: { state: 'input-required' }, final: true },
    ]);
    await using client = connect(agent.url);
    const events: StreamEvent[] = [];
    for await (const event of client.stream(textMessage('hello'))) events.push(event);
    expect(events).toBeValidStream();
    expect(events).toHaveStreamed(['submitted', { artifact: 'a' }, 'input-required']);
    expect(events).not.toHaveStreamed(['completed']);
    expect(events).toProduceArtifact('a', 'one');
    expect(agent).toHaveReceivedMessage({ text: 'hello', count: 1 });
    expect(agent).not.toHaveBeenCanceled();
    expect(() => expect(agent).toHaveReceivedMessage('bye')).toThrow(/- "bye"\n {2}\+ "hello"/);
    expect(() => expect(agent).not.toHaveReceivedMessage('hello')).toThrow(/not to have received/);
  });

  agentTest('await an open stream', async ({ agent }) => {
    urls.add(agent.url);
    agent.prime([{ kind: 'status-update', status: { state: 'completed' }, final: true }]);
    await using client = connect(agent.url);
    const judged = expect(client.stream(textMessage('hello'))).toHaveStreamed(['submitted', 'completed']);
    expectTypeOf(judged).toEqualTypeOf<Promise<void>>();
    await judged;
    await expect(
      expect(client.stream(textMessage('again'))).toHaveStreamed(['...', 'completed']),
    ).rejects.toThrow('- completed');
  });

  agentTest('have a separate agent per test', async ({ agent }) => {
    expect(agent.receivedMessages).toEqual([]);
    urls.add(agent.url);
    expect(urls.size).toBe(3);
    for (const url of urls) if (url !== agent.url) await expect(fetch(url)).rejects.toThrow();
  });

  agentTest('reject invalid arguments at compile time', () => {
    const never = (): void => {
      const events: StreamEvent[] = [];
      expectTypeOf(expect(events).toBeValidStream()).toEqualTypeOf<void>();
      expectTypeOf(expect({} as Task).toProduceArtifact('a')).toEqualTypeOf<void>();
      // @ts-expect-error -- not a task state
      expect(events).toHaveStreamed(['done']);
      // @ts-expect-error -- not a member of a message
      expect(events).toHaveReceivedMessage({ words: 'a' });
      // @ts-expect-error -- not a string
      expect(events).toProduceArtifact(3);
    };
    expect(never).toBeTypeOf('function');
  });
});

const scripted = agentTest.extend({ agentOptions: { script: 'rules: [{ then: [{ complete: yes }] }]' } });

scripted('the options of a file are for all its tests', async ({ agent }) => {
  await using client = connect(agent.url);
  const { status } = (await client.send(textMessage('hello'))) as Task;
  expect(status.state).toBe('completed');
});
