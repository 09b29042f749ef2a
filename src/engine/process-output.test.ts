import { describe, expect, it } from 'vitest';
import {
  collectStream,
  artifactTexts,
  reasonOf,
  statusTextOf,
  userRequest,
  statesOf,
  expectTask,
} from '../../test/support/engine/conversation.ts';
import { A2AError } from '../protocol/errors.ts';
import { lintStream } from '../protocol/lint-stream.ts';
import type { AgentDefinition, LogEntry, ProcessFunction } from './agent-definition.ts';
import { defineAgent, type LocalAgent } from './local-agent.ts';
import { artifact, chunk, type AgentOutput, type AgentResult, status } from './agent-output.ts';

function agent(process: ProcessFunction, more: Partial<AgentDefinition> = {}): LocalAgent {
  return defineAgent({ name: 'Test', description: 'A test', process, ...more });
}

async function run(process: ProcessFunction) {
  return expectTask(await agent(process).send(userRequest('hello')));
}

describe('a process', () => {
  const kinds: [string, ProcessFunction][] = [
    [
      'an async generator',
      async function* ({ text }) {
        yield `You said `;
        yield text;
      },
    ],
    [
      'a generator',
      function* ({ text }) {
        yield 'You said ';
        yield text;
      },
    ],
    ['an async function', async ({ text }) => `You said ${text}`],
    ['a plain function', ({ text }) => `You said ${text}`],
    [
      'a function that gives an async iterable',
      ({ text }) => ({
        async *[Symbol.asyncIterator]() {
          yield `You said ${text}`;
        },
      }),
    ],
  ];

  it.each(kinds)('may be %s', async (_kind, process) => {
    const task = await run(process);
    expect(task.status.state).toBe('completed');
    expect(artifactTexts(task)).toEqual(['You said hello']);
  });

  it('makes one artifact of the strings it yields, one part for each', async () => {
    const task = await run(async function* () {
      yield 'a';
      yield status('working', 'still at it');
      yield 'b';
      return 'c';
    });
    expect(task.artifacts).toHaveLength(1);
    expect(task.artifacts?.[0]?.parts).toEqual([{ text: 'a' }, { text: 'b' }, { text: 'c' }]);
  });

  it('may return nothing', async () => {
    const task = await run(() => {});
    expect(task.status.state).toBe('completed');
    expect(task.artifacts).toBeUndefined();
  });

  it('may return a list of artifacts', async () => {
    const task = await run(() => [
      { text: 'one', name: 'first' },
      { artifactId: 'two', parts: [{ data: { n: 2 } }] },
    ]);
    expect(task.artifacts).toMatchObject([
      { name: 'first', parts: [{ text: 'one' }] },
      { artifactId: 'two', parts: [{ data: { n: 2 } }] },
    ]);
  });

  it('may return one artifact', async () => {
    expect(artifactTexts(await run(() => artifact('whole', { name: 'n' })))).toEqual(['whole']);
  });

  it('says a returned message with the last status', async () => {
    const task = await run(() => ({ messageId: '', role: 'agent', parts: [{ text: 'done' }] }));
    expect(task.status).toMatchObject({
      state: 'completed',
      message: { role: 'agent', taskId: task.id, contextId: task.contextId, parts: [{ text: 'done' }] },
    });
    expect(task.status.message?.messageId).not.toBe('');
  });

  it('says a yielded message with the state it is in', async () => {
    const events = await collectStream(
      agent(async function* () {
        yield { messageId: 'x', role: 'agent', parts: [{ text: 'thinking' }] };
      }).stream(userRequest('go')),
    );
    expect(statesOf(events)).toEqual(['submitted', 'working', 'working', 'completed']);
  });

  it('may return the status that ends the task', async () => {
    const task = await run(() => status('rejected', 'not my trade'));
    expect(task.status.state).toBe('rejected');
    expect(statusTextOf(task)).toBe('not my trade');
  });

  it('hears nothing after a status that ends the task, and runs the end of the generator', async () => {
    let isTidy = false;
    const task = await run(async function* () {
      try {
        yield status('completed', 'early');
        yield 'too late';
      } finally {
        isTidy = true;
      }
    });
    expect(task.artifacts).toBeUndefined();
    expect(statusTextOf(task)).toBe('early');
    expect(isTidy).toBe(true);
  });

  it('begins an artifact with its first chunk and closes it with its last', async () => {
    const events = await collectStream(
      agent(async function* () {
        yield chunk('a', 'one ');
        yield chunk('a', 'two', { lastChunk: true });
      }).stream(userRequest('go')),
    );
    expect(lintStream(events)).toEqual([]);
    expect(events.flatMap((event) => (event.kind === 'artifact' ? [event.append] : []))).toEqual([
      false,
      true,
    ]);
  });

  it('goes from submitted through working to its end', async () => {
    const events = await collectStream(agent(() => 'x').stream(userRequest('go')));
    expect(statesOf(events)).toEqual(['submitted', 'working', 'completed']);
    expect(events.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4]);
    expect(events[0]).toMatchObject({ kind: 'task', task: { history: [{ parts: [{ text: 'go' }] }] } });
  });
});

describe('a process that fails', () => {
  it.each<[string, ProcessFunction]>([
    [
      'a function',
      () => {
        throw new Error('the password is hunter2');
      },
    ],
    ['an async function', () => Promise.reject(new Error('the password is hunter2'))],
    [
      'a generator',
      async function* () {
        yield 'part';
        throw new Error('the password is hunter2');
      },
    ],
  ])('ends the task as failed without telling why when it is %s', async (_kind, process) => {
    const entries: LogEntry[] = [];
    const local = defineAgent(
      { name: 'T', description: 'T', process },
      { log: (entry) => entries.push(entry) },
    );
    const task = expectTask(await local.send(userRequest('go')));
    expect(task.status.state).toBe('failed');
    expect(statusTextOf(task)).not.toBe('');
    expect(JSON.stringify(task)).not.toContain('hunter2');
    expect(entries).toMatchObject([
      { level: 'error', taskId: task.id, error: { message: expect.stringContaining('hunter2') } },
    ]);
  });

  it('says the message of an error that it means to be said', async () => {
    const task = await run(() => {
      throw new A2AError('RESOURCE_EXHAUSTED', 'Come back tomorrow');
    });
    expect(task.status.state).toBe('failed');
    expect(statusTextOf(task)).toBe('Come back tomorrow');
  });

  it('keeps what it made before', async () => {
    const task = await run(async function* () {
      yield 'half';
      throw new Error('no');
    });
    expect(artifactTexts(task)).toEqual(['half']);
  });

  it('is not stopped by whoever listens to its log', async () => {
    const local = defineAgent(
      { name: 'T', description: 'T', process: () => Promise.reject(new Error('x')) },
      {
        log: () => {
          throw new Error('the log is full');
        },
      },
    );
    expect(expectTask(await local.send(userRequest('go'))).status.state).toBe('failed');
  });

  it.each<[string, unknown]>([
    ['a number', 42],
    ['null', null],
    ['nothing', undefined],
    ['an empty object', {}],
    ['a state that is none', { state: 'asleep' }],
    ['the state of a task that has not begun', { state: 'submitted' }],
    ['an artifact without parts', { artifact: { parts: [] } }],
    ['a message without parts', { role: 'agent', messageId: 'm', parts: [] }],
    ['a status that says nothing', { state: 'working', message: [] }],
  ])('ends the task with words for its author when it yields %s', async (_what, output) => {
    const task = await run(async function* () {
      yield output as AgentOutput;
    });
    expect(task.status.state).toBe('failed');
    expect(statusTextOf(task)).toMatch(/^The agent /);
    expect(statusTextOf(task)).not.toBe('The agent could not finish this task.');
  });

  it.each([42, true, {}, [{ parts: [] }]])('ends the task when it returns %j', async (result) => {
    const task = await run(() => result as unknown as AgentResult);
    expect(task.status.state).toBe('failed');
  });

  it('ends the task when it adds to an artifact after its last chunk', async () => {
    const events = await collectStream(
      agent(async function* () {
        yield chunk('a', 'all', { lastChunk: true });
        yield chunk('a', 'more');
      }).stream(userRequest('go')),
    );
    expect(lintStream(events)).toEqual([]);
    expect(statesOf(events).at(-1)).toBe('failed');
  });
});

it('refuses to show an extended card that there is not, and shows the one there is', async () => {
  expect(await reasonOf(agent(() => {}).extendedCard())).toBe('UNSUPPORTED_OPERATION');
  const known = agent(() => {}, { extendedCard: ({ owner }) => ({ description: `for ${owner ?? ''}` }) });
  expect(await known.extendedCard({ owner: 'ann' })).toMatchObject({ name: 'Test', description: 'for ann' });
});

it('needs the extensions that it says it needs', async () => {
  const local = agent(() => 'x', { extensions: [{ uri: 'urn:x', required: true }, { uri: 'urn:y' }] });
  expect(await reasonOf(local.send(userRequest('go')))).toBe('EXTENSION_SUPPORT_REQUIRED');
  expect(await reasonOf(collectStream(local.stream(userRequest('go'), { extensions: ['urn:y'] })))).toBe(
    'EXTENSION_SUPPORT_REQUIRED',
  );
  expect(expectTask(await local.send(userRequest('go'), { extensions: ['urn:x'] })).status.state).toBe(
    'completed',
  );
});
