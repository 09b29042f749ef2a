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

describe('process function', () => {
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
      'a function that returns an async iterable',
      ({ text }) => ({
        async *[Symbol.asyncIterator]() {
          yield `You said ${text}`;
        },
      }),
    ],
  ];

  it.each(kinds)('accepts a process function that is %s', async (_kind, process) => {
    const task = await run(process);
    expect(task.status.state).toBe('completed');
    expect(artifactTexts(task)).toEqual(['You said hello']);
  });

  it('joins yielded strings into one text of one artifact', async () => {
    const task = await run(async function* () {
      yield 'a';
      yield status('working', 'still at it');
      yield 'b';
      return 'c';
    });
    expect(task.artifacts).toHaveLength(1);
    expect(task.artifacts?.[0]?.parts).toEqual([{ text: 'abc' }]);
  });

  it('completes the task if the process function returns nothing', async () => {
    const task = await run(() => {});
    expect(task.status.state).toBe('completed');
    expect(task.artifacts).toBeUndefined();
  });

  it('stores the artifacts that the process function returns', async () => {
    const task = await run(() => [
      { text: 'one', name: 'first' },
      { artifactId: 'two', parts: [{ data: { n: 2 } }] },
    ]);
    expect(task.artifacts).toMatchObject([
      { name: 'first', parts: [{ text: 'one' }] },
      { artifactId: 'two', parts: [{ data: { n: 2 } }] },
    ]);
  });

  it('stores the artifact that the process function returns', async () => {
    expect(artifactTexts(await run(() => artifact('whole', { name: 'n' })))).toEqual(['whole']);
  });

  it('attaches a returned message to the last status', async () => {
    const task = await run(() => ({ messageId: '', role: 'agent', parts: [{ text: 'done' }] }));
    expect(task.status).toMatchObject({
      state: 'completed',
      message: { role: 'agent', taskId: task.id, contextId: task.contextId, parts: [{ text: 'done' }] },
    });
    expect(task.status.message?.messageId).not.toBe('');
  });

  it('attaches a yielded message to the current status', async () => {
    const events = await collectStream(
      agent(async function* () {
        yield { messageId: 'x', role: 'agent', parts: [{ text: 'thinking' }] };
      }).stream(userRequest('go')),
    );
    expect(statesOf(events)).toEqual(['submitted', 'working', 'working', 'completed']);
  });

  it('sets the final status that the process function returns', async () => {
    const task = await run(() => status('rejected', 'not my trade'));
    expect(task.status.state).toBe('rejected');
    expect(statusTextOf(task)).toBe('not my trade');
  });

  it('closes the generator after a terminal status', async () => {
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

  it('starts an artifact with the first chunk and closes it with lastChunk', async () => {
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

  it('passes through submitted, working and completed', async () => {
    const events = await collectStream(agent(() => 'x').stream(userRequest('go')));
    expect(statesOf(events)).toEqual(['submitted', 'working', 'completed']);
    expect(events.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4]);
    expect(events[0]).toMatchObject({ kind: 'task', task: { history: [{ parts: [{ text: 'go' }] }] } });
  });
});

describe('failing process function', () => {
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
  ])('fails the task without revealing the error of %s', async (_kind, process) => {
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

  it('reveals the message of an A2AError', async () => {
    const task = await run(() => {
      throw new A2AError('RESOURCE_EXHAUSTED', 'Come back tomorrow');
    });
    expect(task.status.state).toBe('failed');
    expect(statusTextOf(task)).toBe('Come back tomorrow');
  });

  it('keeps earlier artifacts', async () => {
    const task = await run(async function* () {
      yield 'half';
      throw new Error('no');
    });
    expect(artifactTexts(task)).toEqual(['half']);
  });

  it('ignores errors of the log sink', async () => {
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
    ['an unknown state', { state: 'asleep' }],
    ['the state submitted', { state: 'submitted' }],
    ['an artifact without parts', { artifact: { parts: [] } }],
    ['a message without parts', { role: 'agent', messageId: 'm', parts: [] }],
    ['a status with an empty message', { state: 'working', message: [] }],
  ])('fails the task with a specific message when it yields %s', async (_what, output) => {
    const task = await run(async function* () {
      yield output as AgentOutput;
    });
    expect(task.status.state).toBe('failed');
    expect(statusTextOf(task)).toMatch(/^The agent /);
    expect(statusTextOf(task)).not.toBe('The agent could not finish this task.');
  });

  it.each([42, true, {}, [{ parts: [] }]])('fails the task when it returns %j', async (result) => {
    const task = await run(() => result as unknown as AgentResult);
    expect(task.status.state).toBe('failed');
  });

  it('fails the task when it appends after lastChunk', async () => {
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

it('extendedCard returns the extended card or UNSUPPORTED_OPERATION', async () => {
  expect(await reasonOf(agent(() => {}).extendedCard())).toBe('UNSUPPORTED_OPERATION');
  const known = agent(() => {}, { extendedCard: ({ owner }) => ({ description: `for ${owner ?? ''}` }) });
  expect(await known.extendedCard({ owner: 'ann' })).toMatchObject({ name: 'Test', description: 'for ann' });
});

it('send rejects requests without a required extension', async () => {
  const local = agent(() => 'x', { extensions: [{ uri: 'urn:x', required: true }, { uri: 'urn:y' }] });
  expect(await reasonOf(local.send(userRequest('go')))).toBe('EXTENSION_SUPPORT_REQUIRED');
  expect(await reasonOf(collectStream(local.stream(userRequest('go'), { extensions: ['urn:y'] })))).toBe(
    'EXTENSION_SUPPORT_REQUIRED',
  );
  expect(expectTask(await local.send(userRequest('go'), { extensions: ['urn:x'] })).status.state).toBe(
    'completed',
  );
});
