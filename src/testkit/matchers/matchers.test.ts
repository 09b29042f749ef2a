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
const says = (text: string) => ({ messageId: 'm', role: 'agent' as const, parts: [{ text }] });
const begins: StreamEvent = {
  kind: 'task',
  task: { id: 't', contextId: 'c', status: { state: 'submitted' } },
};
const works: StreamEvent = { kind: 'status', ...ids, status: { state: 'working', message: says('Looking') } };
const gives: StreamEvent = {
  kind: 'artifact',
  ...ids,
  artifact: { artifactId: 'a-1', name: 'report.csv', parts: [{ text: 'a,b\n' }] },
};
const givesMore: StreamEvent = {
  kind: 'artifact',
  ...ids,
  artifact: { artifactId: 'a-1', parts: [{ text: '1,2\n' }] },
  append: true,
  lastChunk: true,
};
const ends: StreamEvent = { kind: 'status', ...ids, status: { state: 'completed' } };
const story = [begins, works, gives, givesMore, ends];

async function* playing(events: readonly StreamEvent[], thrown?: Error): AsyncGenerator<StreamEvent> {
  yield* events;
  if (thrown) throw thrown;
}

const message = (text: string, more: object = {}) => ({
  message: { messageId: crypto.randomUUID(), role: 'user' as const, parts: [{ text }], ...more },
});

const script =
  'rules:\n  - { name: waits, when: { text: wait }, then: [{ ask: Which? }] }\notherwise: { then: [{ complete: ok }] }';

describe('toHaveReceivedMessage', () => {
  it('looks at text, parts, headers and how often', () =>
    withTestAgent({ script }, async (agent) => {
      await using client = connect(agent.url);
      await client.send(message('book Rome', { metadata: { tenant: 'a' } }));
      await client.send(message('book Oslo'));
      const holds = (...expected: Parameters<typeof matchReceivedMessage>[1][]): boolean[] =>
        expected.map((each) => matchReceivedMessage(agent, each).pass);
      expect(
        holds(
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
        holds('book', /paris/, { text: /^book/, count: 1 }, { parts: [] }, { metadata: { tenant: 'b' } }),
      ).toEqual(Array.from({ length: 5 }, () => false));
      // An expression that remembers where it was finds the same every time.
      const sticky = /book/g;
      expect(holds({ text: sticky, count: 2 }, { text: sticky, count: 2 })).toEqual([true, true]);
    }));

  it('says what was expected, what came closest and what happened', () =>
    withTestAgent({ script }, async (agent) => {
      const silence = matchReceivedMessage(agent, 'hello').message();
      expect(silence).toContain('It received 0');
      expect(silence).toMatch(/What the agent was asked:\n {2}nothing$/);
      await using client = connect(agent.url);
      const task = (await client.send(message('hi'))) as Task;
      const lines = matchReceivedMessage(agent, { text: /hello/, role: 'user' }).message().split('\n');
      expect(lines.slice(0, 6)).toEqual([
        'Expected the agent to have received a message like { text: /hello/, role: "user" }',
        'It received 1, of which 0 are like that.',
        'The closest other one:',
        '  text',
        '  - /hello/',
        '  + "hi"',
      ]);
      expect(lines.slice(6).join('\n')).toMatch(/GET \/\.well-known\/agent-card\.json card .* → 200/);
      expect(lines.slice(6).join('\n')).toContain(`POST / send (1.0 JSONRPC) "hi" task ${task.id} → 200`);
      expect(lines.slice(6).join('\n')).toContain('by otherwise (script.yaml:3)');
      expect(matchReceivedMessage(agent, 'hi').message()).toContain(
        'not to have received a message like { text: "hi" }',
      );
    }));

  it('says what it can look at', () => {
    expect(() => matchReceivedMessage({} as never, 'a')).toThrow('looks at a TestAgentServer, not at {}');
  });
});

describe('toHaveBeenCanceled', () => {
  it('knows whose task somebody wanted to end', () =>
    withTestAgent({ script }, async (agent) => {
      await using client = connect(agent.url);
      expect(() => assertCanceled(agent)).toThrow('Nobody canceled anything.');
      const task = (await client.send(message('wait'))) as Task;
      await client.cancelTask({ id: task.id });
      assertCanceled(agent);
      assertCanceled(agent, task.id);
      expect(() => assertCanceled(agent, 'another')).toThrow(`Canceled were: ${task.id}`);
    }));
});

describe('toHaveStreamed', () => {
  it.each<[string, ExpectedEvent[]]>([
    ['states', ['submitted', 'working', 'artifact', 'artifact', 'completed']],
    ['kinds', ['task', 'status', 'artifact', 'artifact', 'status']],
    ['gaps', ['...', { artifact: /csv$/ }, '...', 'completed']],
    [
      'a gap of nothing',
      ['submitted', '...', 'working', '...', { artifact: 'a-1', append: true }, 'completed', '...'],
    ],
    [
      'everything',
      [
        { state: 'submitted' },
        { state: 'working', text: 'Looking' },
        { artifact: 'report.csv', text: /a,b/, append: false },
        { artifact: 'report.csv', text: '1,2\n', append: true, lastChunk: true },
        { state: 'completed' },
      ],
    ],
  ])('is content with %s', async (_what, gists) => {
    expect(matchStream(story, gists).pass).toBe(true);
    expect((await matchStream(playing(story), gists)).pass).toBe(true);
  });

  it.each<[string, ExpectedEvent[]]>([
    ['one event less', ['submitted', 'working', 'artifact', 'completed']],
    ['one event more', ['submitted', 'working', 'artifact', 'artifact', 'artifact', 'completed']],
    ['another order', ['working', 'submitted', 'artifact', 'artifact', 'completed']],
    ['other words', ['...', { state: 'working', text: 'Loking' }, '...']],
    ['another flag', ['...', { artifact: 'report.csv', lastChunk: true, append: false }, '...']],
    ['a break', ['...', { error: /./ }]],
    ['nothing', []],
  ])('is not content with %s', (_what, gists) => {
    expect(matchStream(story, gists).pass).toBe(false);
  });

  it('shows both beside each other', () => {
    const found = matchStream(story, ['submitted', { state: 'working', text: /Search/ }, '...', 'failed']);
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

  it('sees how a stream breaks', async () => {
    const cut = new A2AError('UNAVAILABLE', 'gone');
    const found = await matchStream(playing([begins], cut), ['submitted', { error: 'UNAVAILABLE' }]);
    expect(found.pass).toBe(true);
    const other = await matchStream(playing([begins], cut), ['submitted']);
    expect(other.message()).toContain('  + error UNAVAILABLE: gone');
  });

  it('says what it can look at', () => {
    expect(() => matchStream(3 as never, [])).toThrow('looks at the events of a stream, not at 3');
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

  it('finds it by name or id, with text, bytes or data', async () => {
    expect(matchArtifact(task, 'a-2').pass).toBe(true);
    expect(matchArtifact(task, /png$/, new Uint8Array([137, 80])).pass).toBe(true);
    expect(matchArtifact(task, 'facts', { list: [1, 2] }).pass).toBe(true);
    expect(matchArtifact(task, 'facts', 'see').pass).toBe(true);
    expect(matchArtifact(story, 'report.csv', 'a,b\n1,2\n').pass).toBe(true);
    expect((await matchArtifact(playing(story), 'report.csv', /2/)).pass).toBe(true);
  });

  it('says what there is instead', () => {
    expect(matchArtifact(task, 'fact').message()).toBe(
      'Expected an artifact "fact"\nThere are:\n  photo.png (a-1): raw\n  facts (a-2): text, data',
    );
    expect(matchArtifact(task, 'facts', { sum: 4 }).message()).toBe(
      'Expected an artifact "facts" with { sum: 4 }\nfacts (a-2): text, data is different:\n  sum\n  - 4\n  + 3',
    );
    expect(matchArtifact(says('hi'), 'a').message()).toContain('There is none at all.');
    expect(matchArtifact(task, 'photo.png', new Uint8Array([1])).pass).toBe(false);
  });
});

describe('toBeLegalStream', () => {
  it('is content with a whole story and says what is wrong with another', async () => {
    expect(matchValidStream(story).pass).toBe(true);
    expect((await matchValidStream(playing(story))).pass).toBe(true);
    expect(matchValidStream([begins, ends, works]).message().split('\n')).toEqual([
      'Expected a legal stream',
      '  0 task submitted',
      '  1 completed',
      '  2 working "Looking"',
      '    ! after-terminal: No event may follow the terminal state completed',
      '    ! unfinished: The stream ended in the state working',
    ]);
    expect((await matchValidStream(playing(story, new Error('cut')))).pass).toBe(false);
  });
});

describe('the assertions', () => {
  it('throw what test runners know, where the test is', async () => {
    expect(() => assertStreamed(story, ['submitted'])).toThrow(AssertionError);
    const rejected: unknown = await assertStreamed(playing(story), []).catch((thrown: unknown) => thrown);
    expect(rejected).toBeInstanceOf(AssertionError);
    expect(() => assertProducedArtifact(story, 'nothing')).toThrow(AssertionError);
    expect(() => assertValidStream([])).toThrow(/no-events/);
    try {
      assertValidStream([]);
    } catch (thrown) {
      expect((thrown as Error).stack?.split('\n    at ')[1]).toContain('matchers.test.ts');
    }
  });

  it('give nothing when all is well', async () => {
    expect(assertValidStream(story)).toBeUndefined();
    expect(await assertProducedArtifact(playing(story), 'report.csv')).toBeUndefined();
    await withTestAgent({ script }, async (agent) => {
      expect(() => assertReceivedMessage(agent)).toThrow(AssertionError);
    });
  });
});
