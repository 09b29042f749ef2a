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
} from '../../../test/support/engine/conversation.ts';
import { lintStream } from '../../protocol/lint-stream.ts';
import { isTask } from '../../protocol/task.ts';
import type { AgentDefinition, ProcessFunction } from '../agent-definition.ts';
import { defineAgent, type LocalAgent } from '../local-agent.ts';

function define(process: ProcessFunction, more: Partial<AgentDefinition> = {}): LocalAgent {
  return defineAgent({ name: 'T', description: 'T', allowDirectReply: true, process, ...more });
}

const hello = { messageId: '', role: 'agent', parts: [{ text: 'hello' }] } as const;
const greeting = () => ({ ...hello, parts: [...hello.parts] });

describe('an agent that may answer directly', () => {
  it('answers with a message and makes no task', async () => {
    const agent = define(greeting);
    const answer = await agent.send(userRequest('hi', { contextId: 'c' }));
    expect(isTask(answer)).toBe(false);
    expect(answer).toMatchObject({ role: 'agent', contextId: 'c', parts: [{ text: 'hello' }] });
    expect(answer).not.toMatchObject({ messageId: '' });
    expect((await agent.listTasks({})).totalSize).toBe(0);
  });

  it('answers a stream with a message and nothing else', async () => {
    const events = await collectStream(define(greeting).stream(userRequest('hi')));
    expect(events.map(({ kind }) => kind)).toEqual(['message']);
    expect(lintStream(events)).toEqual([]);
  });

  it('answers with the first message that it yields, and tidies up', async () => {
    const tidy = createDeferred();
    const agent = define(async function* () {
      try {
        yield greeting();
        yield 'never asked for';
      } finally {
        tidy.resolve();
      }
    });
    expect(isTask(await agent.send(userRequest('hi')))).toBe(false);
    await tidy.promise;
  });

  it('makes a task as soon as it gives something else', async () => {
    const agent = define(async function* () {
      yield 'some ';
      yield 'text';
    });
    const task = expectTask(await agent.send(userRequest('hi')));
    expect(artifactTexts(task)).toEqual(['some text']);
    expect(await agent.getTask({ id: task.id })).toEqual(task);
    const events = await collectStream(agent.stream(userRequest('hi')));
    expect(statesOf(events)).toEqual(['submitted', 'working', 'completed']);
    expect(lintStream(events)).toEqual([]);
  });

  it('makes a task when it returns nothing', async () => {
    expect(expectTask(await define(() => {}).send(userRequest('hi'))).status.state).toBe('completed');
  });

  it('makes a task when it asks, whose last word may be a message', async () => {
    const agent = define(async (context) => {
      await context.ask('Which?');
      return greeting();
    });
    const { id, status, contextId } = expectTask(await agent.send(userRequest('hi', { contextId: 'c' })));
    expect(status.state).toBe('input-required');
    expect(contextId).toBe('c');
    const done = expectTask(await agent.send(userRequest('L', { taskId: id })));
    expect(done.status.state).toBe('completed');
    expect(statusTextOf(done)).toBe('hello');
  });

  it('makes a task when it fails', async () => {
    const agent = define(() => Promise.reject(new Error('secret')));
    const task = expectTask(await agent.send(userRequest('hi')));
    expect(task.status.state).toBe('failed');
    expect(JSON.stringify(task)).not.toContain('secret');
  });

  it('knows the ids of its task before there is one, and the task only then', async () => {
    let before: unknown;
    const agent = define(async function* (context) {
      before = await reasonOf((async () => context.task)());
      yield context.taskId;
      yield ` ${context.task.status.state}`;
    });
    const task = expectTask(await agent.send(userRequest('hi')));
    expect(before).toBe('UNSUPPORTED_OPERATION');
    expect(artifactTexts(task)).toEqual([`${task.id} working`]);
  });

  it('hears of a cancel on the signal that it took before there was a task', async () => {
    const heard = createDeferred();
    const agent = define(async function* ({ signal }) {
      signal.addEventListener('abort', heard.resolve);
      yield 'begun';
      await heard.promise;
    });
    const { id } = expectTask(
      await agent.send(userRequest('hi', {}, { configuration: { returnImmediately: true } })),
    );
    expect((await agent.cancelTask({ id })).status.state).toBe('canceled');
    await heard.promise;
  });

  it('makes the task that the caller claims', async () => {
    const agent = define(() => 'x');
    expect(expectTask(await agent.send(userRequest('hi', {}, { clientTaskId: 'mine' }))).id).toBe('mine');
  });
});
