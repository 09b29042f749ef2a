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

describe('allowDirectReply', () => {
  it('returns a direct message without a task', async () => {
    const agent = define(greeting);
    const answer = await agent.send(userRequest('hi', { contextId: 'c' }));
    expect(isTask(answer)).toBe(false);
    expect(answer).toMatchObject({ role: 'agent', contextId: 'c', parts: [{ text: 'hello' }] });
    expect(answer).not.toMatchObject({ messageId: '' });
    expect((await agent.listTasks({})).totalSize).toBe(0);
  });

  it('streams a direct message as the only event', async () => {
    const events = await collectStream(define(greeting).stream(userRequest('hi')));
    expect(events.map(({ kind }) => kind)).toEqual(['message']);
    expect(lintStream(events)).toEqual([]);
  });

  it('returns the first yielded message and closes the generator', async () => {
    const tidy = createDeferred();
    const agent = define(async function* () {
      try {
        yield greeting();
        yield 'never requested';
      } finally {
        tidy.resolve();
      }
    });
    expect(isTask(await agent.send(userRequest('hi')))).toBe(false);
    await tidy.promise;
  });

  it('creates a task on other output', async () => {
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

  it('creates a task when nothing is returned', async () => {
    expect(expectTask(await define(() => {}).send(userRequest('hi'))).status.state).toBe('completed');
  });

  it('creates a task on ask(), which may end with a message', async () => {
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

  it('creates a task on failure', async () => {
    const agent = define(() => Promise.reject(new Error('secret')));
    const task = expectTask(await agent.send(userRequest('hi')));
    expect(task.status.state).toBe('failed');
    expect(JSON.stringify(task)).not.toContain('secret');
  });

  it('provides the ids before the task exists, and the task afterwards', async () => {
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

  it('aborts a signal that was read before the task existed', async () => {
    const aborted = createDeferred();
    const agent = define(async function* ({ signal }) {
      signal.addEventListener('abort', aborted.resolve);
      yield 'begun';
      await aborted.promise;
    });
    const { id } = expectTask(
      await agent.send(userRequest('hi', {}, { configuration: { returnImmediately: true } })),
    );
    expect((await agent.cancelTask({ id })).status.state).toBe('canceled');
    await aborted.promise;
  });

  it('uses clientTaskId for the task', async () => {
    const agent = define(() => 'x');
    expect(expectTask(await agent.send(userRequest('hi', {}, { clientTaskId: 'mine' }))).id).toBe('mine');
  });
});
