import { describe, expect, it } from 'vitest';
import {
  collectStream,
  artifactTexts,
  createDeferred,
  reasonOf,
  statusTextOf,
  userRequest,
  statesOf,
  expectTask,
} from '../../test/support/engine/conversation.ts';
import { lintStream } from '../protocol/lint-stream.ts';
import { textOf } from '../protocol/part.ts';
import { reduce } from '../protocol/reduce.ts';
import type { ProcessFunction } from './agent-definition.ts';
import { defineAgent, type LocalAgent } from './local-agent.ts';
import { status } from './agent-output.ts';

const define = (process: ProcessFunction): LocalAgent =>
  defineAgent({ name: 'T', description: 'T', process });

/** Waits for input within the run. */
const asking = () =>
  define(async function* (context) {
    yield 'Your size: ';
    yield textOf((await context.ask('Which size?')).parts);
  });

/** Ends the run with input-required; the answer starts another run. */
const yielding = () =>
  define(async function* ({ text, task }) {
    if (task.history?.length === 1) yield status('input-required', 'Which size?');
    else yield `Your size: ${text}`;
  });

describe.each([
  ['calls ask()', asking],
  ['yields input-required', yielding],
])('multi-turn task of an agent that %s', (_how, make) => {
  it('continues with an answer by send', async () => {
    const agent = make();
    const question = expectTask(await agent.send(userRequest('a shirt')));
    expect(question.status.state).toBe('input-required');
    expect(statusTextOf(question)).toBe('Which size?');
    const done = expectTask(await agent.send(userRequest('L', { taskId: question.id })));
    expect(done.status.state).toBe('completed');
    expect(artifactTexts(done)).toEqual(['Your size: L']);
    expect(done.history?.map(({ role, parts }) => [role, textOf(parts)])).toEqual([
      ['user', 'a shirt'],
      ['agent', 'Which size?'],
      ['user', 'L'],
    ]);
  });

  it('continues with an answer by stream, which starts with a snapshot', async () => {
    const agent = make();
    const first = await collectStream(agent.stream(userRequest('a shirt')));
    expect(statesOf(first)).toEqual(['submitted', 'working', 'input-required']);
    expect(lintStream(first)).toEqual([]);
    const { id } = expectTask(reduce(first) as never);
    const second = await collectStream(agent.stream(userRequest('L', { taskId: id })));
    expect(statesOf(second)).toEqual(['input-required', 'working', 'completed']);
    expect(lintStream(second)).toEqual([]);
    expect(artifactTexts(await agent.getTask({ id }))).toEqual(['Your size: L']);
  });

  it('accepts one of two concurrent answers', async () => {
    const agent = make();
    const { id } = expectTask(await agent.send(userRequest('a shirt')));
    const answers = await Promise.allSettled([
      agent.send(userRequest('L', { taskId: id })),
      agent.send(userRequest('S', { taskId: id })),
    ]);
    expect(answers.map((each) => each.status)).toEqual(['fulfilled', 'rejected']);
    expect(artifactTexts(await agent.getTask({ id }))).toEqual(['Your size: L']);
  });
});

describe('auth-required', () => {
  it('waits in askForAuth() for the next message', async () => {
    const agent = define(async function* (context) {
      yield textOf((await context.askForAuth('Log in at https://login.example')).parts);
    });
    const waiting = expectTask(await agent.send(userRequest('my mails')));
    expect(waiting.status.state).toBe('auth-required');
    const done = expectTask(await agent.send(userRequest('I did', { taskId: waiting.id })));
    expect(artifactTexts(done)).toEqual(['I did']);
  });

  it('keeps the stream open for out-of-band authorization', async () => {
    const loggedIn = createDeferred();
    const agent = define(async function* () {
      yield status('auth-required', 'Log in at https://login.example');
      await loggedIn.promise;
      yield status('working');
      yield 'your mails';
    });
    const events = collectStream(agent.stream(userRequest('my mails')));
    const waiting = expectTask(await agent.send(userRequest('more mails')));
    expect(waiting.status.state).toBe('auth-required');
    expect(await reasonOf(agent.send(userRequest('I did', { taskId: waiting.id })))).toBe(
      'UNSUPPORTED_OPERATION',
    );
    loggedIn.resolve();
    expect(statesOf(await events)).toEqual(['submitted', 'working', 'auth-required', 'working', 'completed']);
  });
});

describe('message', () => {
  it('rejects a message to a finished task', async () => {
    const agent = define(({ text }) => text);
    const { id } = expectTask(await agent.send(userRequest('hi')));
    expect(await reasonOf(agent.send(userRequest('again', { taskId: id })))).toBe('UNSUPPORTED_OPERATION');
    expect(await reasonOf(collectStream(agent.stream(userRequest('again', { taskId: id }))))).toBe(
      'UNSUPPORTED_OPERATION',
    );
  });

  it('rejects a message to a working task', async () => {
    const go = createDeferred();
    const agent = define(async () => {
      await go.promise;
    });
    const { id } = expectTask(
      await agent.send(userRequest('hi', {}, { configuration: { returnImmediately: true } })),
    );
    expect(await reasonOf(agent.send(userRequest('more', { taskId: id })))).toBe('UNSUPPORTED_OPERATION');
    go.resolve();
  });

  it('rejects a message to an unknown task', async () => {
    const agent = define(({ text }) => text);
    expect(await reasonOf(agent.send(userRequest('hi', { taskId: 'nothing' })))).toBe('TASK_NOT_FOUND');
    expect(await reasonOf(collectStream(agent.stream(userRequest('hi', { taskId: 'nothing' }))))).toBe(
      'TASK_NOT_FOUND',
    );
    expect(await reasonOf(collectStream(agent.subscribe({ id: 'nothing' })))).toBe('TASK_NOT_FOUND');
    expect(await reasonOf(agent.getTask({ id: 'nothing' }))).toBe('TASK_NOT_FOUND');
  });

  it('derives the context from the task and rejects another one', async () => {
    const agent = yielding();
    const { id, contextId } = expectTask(await agent.send(userRequest('a shirt')));
    expect(await reasonOf(agent.send(userRequest('L', { taskId: id, contextId: 'other' })))).toBe(
      'INVALID_PARAMS',
    );
    const done = expectTask(await agent.send(userRequest('L', { taskId: id })));
    expect(done.history?.at(-1)).toMatchObject({ taskId: id, contextId });
  });

  it('starts a task in its context, or in a new one without contextId', async () => {
    const agent = define(({ contextId }) => contextId);
    const named = expectTask(await agent.send(userRequest('hi', { contextId: 'c-1' })));
    expect(named.contextId).toBe('c-1');
    expect(artifactTexts(named)).toEqual(['c-1']);
    const other = expectTask(await agent.send(userRequest('hi')));
    expect(other.contextId).not.toBe('');
    expect(other.contextId).not.toBe('c-1');
    expect((await agent.listTasks({ contextId: 'c-1' })).tasks.map(({ id }) => id)).toEqual([named.id]);
  });

  it('creates the task with clientTaskId and continues it with the next message', async () => {
    const agent = yielding();
    const first = expectTask(await agent.send(userRequest('a shirt', {}, { clientTaskId: 'mine' })));
    expect(first).toMatchObject({ id: 'mine', status: { state: 'input-required' } });
    const second = expectTask(await agent.send(userRequest('L', {}, { clientTaskId: 'mine' })));
    expect(second).toMatchObject({ id: 'mine', status: { state: 'completed' } });
  });
});

describe('response', () => {
  it('returns the task immediately with returnImmediately', async () => {
    const go = createDeferred();
    const agent = define(async () => {
      await go.promise;
      return 'done';
    });
    const task = expectTask(
      await agent.send(userRequest('hi', {}, { configuration: { returnImmediately: true } })),
    );
    expect(task.status.state).toBe('working');
    const events = collectStream(agent.subscribe({ id: task.id }));
    go.resolve();
    expect(statesOf(await events)).toEqual(['working', 'completed']);
  });

  it('limits the history to historyLength', async () => {
    const agent = asking();
    const { id } = expectTask(await agent.send(userRequest('a shirt')));
    const last = userRequest('L', { taskId: id }, { configuration: { historyLength: 1 } });
    expect(expectTask(await agent.send(last)).history?.map(({ parts }) => textOf(parts))).toEqual(['L']);
    expect((await agent.getTask({ id })).history).toHaveLength(3);
    expect((await agent.getTask({ id, historyLength: 2 })).history).toHaveLength(2);
    expect(await agent.getTask({ id, historyLength: 0 })).not.toHaveProperty('history');
  });

  it('starts a subscription after afterSequence', async () => {
    const agent = define(function* () {
      yield 'a';
      yield 'b';
    });
    const events = await collectStream(agent.stream(userRequest('hi')));
    const { id } = expectTask(reduce(events) as never);
    expect(await collectStream(agent.subscribe({ id, afterSequence: 3 }))).toEqual(events.slice(3));
    expect(await collectStream(agent.subscribe({ id, afterSequence: 5 }))).toEqual([]);
    expect(await reasonOf(collectStream(agent.subscribe({ id })))).toBe('UNSUPPORTED_OPERATION');
  });
});
