import { AssertionError } from 'node:assert';
import { describe, expect, it } from 'vitest';
import { connect } from '../../client/connect.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { Task } from '../../protocol/task.ts';
import { withTestAgent } from '../with-test-agent.ts';
import {
  assertCanceled,
  assertValidStream,
  assertProducedArtifact,
  assertReceivedMessage,
  assertStreamed,
} from './assertions.ts';
import { matchValidStream } from './match-valid-stream.ts';
import { matchArtifact } from './match-artifact.ts';
import { matchReceivedMessage } from './match-received-message.ts';
import { type ExpectedEvent, matchStream } from './match-stream.ts';

const ids = { taskId: 't', contextId: 'c' };
const agentMessage = (text: string) => ({ messageId: 'm', role: 'agent' as const, parts: [{ text }] });
const submitted: StreamEvent = {
  kind: 'task',
  task: { id: 't', contextId: 'c', status: { state: 'submitted' } },
};
const working: StreamEvent = {
  kind: 'status',
  ...ids,
  status: { state: 'working', message: agentMessage('Looking') },
};
const firstChunk: StreamEvent = {
  kind: 'artifact',
  ...ids,
  artifact: { artifactId: 'a-1', name: 'report.csv', parts: [{ text: 'a,b\n' }] },
};
const lastChunk: StreamEvent = {
  kind: 'artifact',
  ...ids,
  artifact: { artifactId: 'a-1', parts: [{ text: '1,2\n' }] },
  append: true,
  lastChunk: true,
};
const completed: StreamEvent = { kind: 'status', ...ids, status: { state: 'completed' } };
const events = [submitted, working, firstChunk, lastChunk, completed];

async function* streamOf(items: readonly StreamEvent[], thrown?: Error): AsyncGenerator<StreamEvent> {
  yield* items;
  if (thrown) throw thrown;
}

const message = (text: string, more: object = {}) => ({
  message: { messageId: crypto.randomUUID(), role: 'user' as const, parts: [{ text }], ...more },
});

const script =
  'rules:\n  - { name: waits, when: { text: wait }, then: [{ ask: Which? }] }\notherwise: { then: [{ complete: ok }] }';

describe('toHaveReceivedMessage', () => {
  it('matches text, parts, headers and count', () =>
    withTestAgent({ script }, async (agent) => {
      await using client = connect(agent.url);
      await client.send(message('book Rome', { metadata: { tenant: 'a' } }));
      await client.send(message('book Oslo'));
      const passes = (...expected: Parameters<typeof matchReceivedMessage>[1][]): boolean[] =>
        expected.map((each) => matchReceivedMessage(agent, each).pass);
      expect(
        passes(
          undefined,
          'book Rome',
          /oslo/i,
          { text: /^book/, count: 2 },
          { metadata: { tenant: 'a' }, count: 1 },
          { parts: [{ text: expect.stringContaining('Rome') as string }] },
          { headers: { 'content-type': /json/ } },
          { text: 'never', count: 0 },
        ),
      ).toEqual(Array.from({ length: 8 }, () => true));
      expect(
        passes('book', /paris/, { text: /^book/, count: 1 }, { parts: [] }, { metadata: { tenant: 'b' } }),
      ).toEqual(Array.from({ length: 5 }, () => false));
      // A global regular expression has state; it must match the same every time.
      const sticky = /book/g;
      expect(passes({ text: sticky, count: 2 }, { text: sticky, count: 2 })).toEqual([true, true]);
    }));

  it('reports the expectation, the closest message and all requests', () =>
    withTestAgent({ script }, async (agent) => {
      const emptyReport = matchReceivedMessage(agent, 'hello').message();
      expect(emptyReport).toContain('Received messages: 0');
      expect(emptyReport).toMatch(/Requests to the agent:\n {2}none$/);
      await using client = connect(agent.url);
      const task = (await client.send(message('hi'))) as Task;
      const lines = matchReceivedMessage(agent, { text: /hello/, role: 'user' }).message().split('\n');
      expect(lines.slice(0, 6)).toEqual([
        'Expected the agent to have received a message matching { text: /hello/, role: "user" }',
        'Received messages: 1, of which 0 match',
        'Closest other message:',
        '  text',
        '  - /hello/',
        '  + "hi"',
      ]);
      expect(lines.slice(6).join('\n')).toMatch(/GET \/\.well-known\/agent-card\.json card .* → 200/);
      expect(lines.slice(6).join('\n')).toContain(`POST / send (1.0 JSONRPC) "hi" task ${task.id} → 200`);
      expect(lines.slice(6).join('\n')).toContain('by otherwise (script.yaml:3)');
      expect(matchReceivedMessage(agent, 'hi').message()).toContain(
        'not to have received a message matching { text: "hi" }',
      );
    }));

  it('rejects values other than a test agent', () => {
    expect(() => matchReceivedMessage({} as never, 'a')).toThrow('expects a TestAgentServer, got {}');
  });
});

describe('toHaveBeenCanceled', () => {
  it('matches the canceled task id', () =>
    withTestAgent({ script }, async (agent) => {
      await using client = connect(agent.url);
      expect(() => assertCanceled(agent)).toThrow('There were no cancel requests.');
      const task = (await client.send(message('wait'))) as Task;
      await client.cancelTask({ id: task.id });
      assertCanceled(agent);
      assertCanceled(agent, task.id);
      expect(() => assertCanceled(agent, 'another')).toThrow(`Canceled tasks: ${task.id}`);
    }));
});

describe('toHaveStreamed', () => {
  it.each<[string, ExpectedEvent[]]>([
    ['states', ['submitted', 'working', 'artifact', 'artifact', 'completed']],
    ['kinds', ['task', 'status', 'artifact', 'artifact', 'status']],
    ['gaps', ['...', { artifact: /csv$/ }, '...', 'completed']],
    [
      'empty gaps',
      ['submitted', '...', 'working', '...', { artifact: 'a-1', append: true }, 'completed', '...'],
    ],
    [
      'all fields',
      [
        { state: 'submitted' },
        { state: 'working', text: 'Looking' },
        { artifact: 'report.csv', text: /a,b/, append: false },
        { artifact: 'report.csv', text: '1,2\n', append: true, lastChunk: true },
        { state: 'completed' },
      ],
    ],
  ])('matches %s', async (_name, expected) => {
    expect(matchStream(events, expected).pass).toBe(true);
    expect((await matchStream(streamOf(events), expected)).pass).toBe(true);
  });

  it.each<[string, ExpectedEvent[]]>([
    ['a missing event', ['submitted', 'working', 'artifact', 'completed']],
    ['an additional event', ['submitted', 'working', 'artifact', 'artifact', 'artifact', 'completed']],
    ['a different order', ['working', 'submitted', 'artifact', 'artifact', 'completed']],
    ['a different text', ['...', { state: 'working', text: 'Loking' }, '...']],
    ['a different flag', ['...', { artifact: 'report.csv', lastChunk: true, append: false }, '...']],
    ['an error', ['...', { error: /./ }]],
    ['no events', []],
  ])('does not match %s', (_name, expected) => {
    expect(matchStream(events, expected).pass).toBe(false);
  });

  it('aligns expected and actual events in the message', () => {
    const found = matchStream(events, ['submitted', { state: 'working', text: /Search/ }, '...', 'failed']);
    expect(found.message().split('\n').slice(1)).toEqual([
      '    task submitted',
      '  - working /Search/',
      '    working "Looking"',
      '    artifact report.csv "a,b\\n"',
      '    artifact report.csv "1,2\\n" (append, lastChunk)',
      '    completed',
      '  - failed',
    ]);
  });

  it('matches the error of a stream', async () => {
    const error = new A2AError('UNAVAILABLE', 'gone');
    const found = await matchStream(streamOf([submitted], error), ['submitted', { error: 'UNAVAILABLE' }]);
    expect(found.pass).toBe(true);
    const other = await matchStream(streamOf([submitted], error), ['submitted']);
    expect(other.message()).toContain('  + error UNAVAILABLE: gone');
  });

  it('rejects values other than events', () => {
    expect(() => matchStream(3 as never, [])).toThrow('expects the events of a stream, got 3');
  });
});

describe('toProduceArtifact', () => {
  const task: Task = {
    id: 't',
    contextId: 'c',
    status: { state: 'completed' },
    artifacts: [
      { artifactId: 'a-1', name: 'photo.png', parts: [{ raw: Buffer.from([137, 80]).toString('base64') }] },
      { artifactId: 'a-2', name: 'facts', parts: [{ text: 'see' }, { data: { sum: 3, list: [1, 2] } }] },
    ],
  };

  it('matches by name or id and by text, bytes or data', async () => {
    expect(matchArtifact(task, 'a-2').pass).toBe(true);
    expect(matchArtifact(task, /png$/, new Uint8Array([137, 80])).pass).toBe(true);
    expect(matchArtifact(task, 'facts', { list: [1, 2] }).pass).toBe(true);
    expect(matchArtifact(task, 'facts', 'see').pass).toBe(true);
    expect(matchArtifact(events, 'report.csv', 'a,b\n1,2\n').pass).toBe(true);
    expect((await matchArtifact(streamOf(events), 'report.csv', /2/)).pass).toBe(true);
  });

  it('lists the artifacts in the message', () => {
    expect(matchArtifact(task, 'fact').message()).toBe(
      'Expected an artifact "fact"\nArtifacts:\n  photo.png (a-1): raw\n  facts (a-2): text, data',
    );
    expect(matchArtifact(task, 'facts', { sum: 4 }).message()).toBe(
      'Expected an artifact "facts" with { sum: 4 }\nfacts (a-2): text, data has different content:\n  sum\n  - 4\n  + 3',
    );
    expect(matchArtifact(agentMessage('hi'), 'a').message()).toContain('There are no artifacts.');
    expect(matchArtifact(task, 'photo.png', new Uint8Array([1])).pass).toBe(false);
  });
});

describe('toBeValidStream', () => {
  it('matches a valid stream and lists the lint errors of an invalid one', async () => {
    expect(matchValidStream(events).pass).toBe(true);
    expect((await matchValidStream(streamOf(events))).pass).toBe(true);
    expect(matchValidStream([submitted, completed, working]).message().split('\n')).toEqual([
      'Expected a valid stream',
      '  0 task submitted',
      '  1 completed',
      '  2 working "Looking"',
      '    ! after-terminal: No event may follow the terminal state completed',
      '    ! unfinished: The stream ended in the state working',
    ]);
    expect((await matchValidStream(streamOf(events, new Error('error')))).pass).toBe(false);
  });
});

describe('assertions', () => {
  it('throw an AssertionError with the stack of the test', async () => {
    expect(() => assertStreamed(events, ['submitted'])).toThrow(AssertionError);
    const rejected: unknown = await assertStreamed(streamOf(events), []).catch((thrown: unknown) => thrown);
    expect(rejected).toBeInstanceOf(AssertionError);
    expect(() => assertProducedArtifact(events, 'nothing')).toThrow(AssertionError);
    expect(() => assertValidStream([])).toThrow(/no-events/);
    try {
      assertValidStream([]);
    } catch (thrown) {
      expect((thrown as Error).stack?.split('\n    at ')[1]).toContain('matchers.test.ts');
    }
  });

  it('return undefined on success', async () => {
    expect(assertValidStream(events)).toBeUndefined();
    expect(await assertProducedArtifact(streamOf(events), 'report.csv')).toBeUndefined();
    await withTestAgent({ script }, async (agent) => {
      expect(() => assertReceivedMessage(agent)).toThrow(AssertionError);
    });
  });
});
