import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { expectTask, userRequest } from '../../../test/support/engine/conversation.ts';
import type { Message } from '../../protocol/message.ts';
import { textOf } from '../../protocol/part.ts';
import { memoryTaskStore } from '../../store/memory-task-store.ts';
import { sqliteTaskStore } from '../../store/sqlite.ts';
import type { TaskStore } from '../../store/task-store.ts';
import type { AgentDefinition } from '../agent-definition.ts';
import { status } from '../agent-output.ts';
import { defineAgent } from '../local-agent.ts';
import type { HistoryLimits } from './context-history.ts';

const lines = (messages: readonly Message[]): string[] =>
  messages.map(({ role, parts }) => `${role}: ${textOf(parts)}`);

describe.each([
  ['memory', async () => memoryTaskStore()],
  ['SQLite', async (folder: string) => sqliteTaskStore({ file: join(folder, 'tasks.db') })],
])('history() with a task store in %s', (_name, open) => {
  let folder: string;
  let taskStore: TaskStore;
  let seen: string[][];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'history-'));
    taskStore = await open(folder);
    seen = [];
  });

  afterEach(async () => {
    await taskStore[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });

  /** An agent that records its history, repeats each text, and asks back if the text ends with a question mark. */
  const remembering = (limits?: HistoryLimits, definition: Partial<AgentDefinition> = {}) =>
    defineAgent(
      {
        name: 'T',
        description: 'T',
        async *process(context) {
          seen.push(lines(await context.history(limits)));
          if (context.text.endsWith('?')) yield status('input-required', 'Which one?');
          else {
            yield `${context.text} `;
            yield 'again';
          }
        },
        ...definition,
      },
      { taskStore },
    );

  it('returns the earlier turns of the context, oldest first', async () => {
    await using agent = remembering();
    const first = expectTask(await agent.send(userRequest('one')));
    const { contextId } = first;
    await agent.send(userRequest('two', { contextId }));
    await agent.send(userRequest('elsewhere'));
    await agent.send(userRequest('three', { contextId }));
    expect(seen).toEqual([
      [],
      ['user: one', 'agent: one again'],
      [],
      ['user: one', 'agent: one again', 'user: two', 'agent: two again'],
    ]);
  });

  it('returns the earlier turns of the same task', async () => {
    await using agent = remembering();
    const { id, contextId } = expectTask(await agent.send(userRequest('a?')));
    await agent.send(userRequest('b', { taskId: id }));
    await agent.send(userRequest('c', { contextId }));
    expect(seen.slice(1)).toEqual([
      ['user: a?', 'agent: Which one?'],
      ['user: a?', 'agent: Which one?', 'user: b', 'agent: b again'],
    ]);
  });

  it('leaves out tasks of other owners in the same context', async () => {
    await using agent = remembering();
    const contextId = 'shared';
    await agent.send(userRequest('secret', { contextId }), { owner: 'ann' });
    await agent.send(userRequest('mine', { contextId }), { owner: 'bob' });
    await agent.send(userRequest('more', { contextId }), { owner: 'bob' });
    expect(seen).toEqual([[], [], ['user: mine', 'agent: mine again']]);
  });

  it('keeps the newest messages within the limits', async () => {
    await using agent = remembering({ maxMessages: 3 });
    const contextId = 'c';
    for (const text of ['one', 'two', 'three']) await agent.send(userRequest(text, { contextId }));
    expect(seen[2]).toEqual(['agent: one again', 'user: two', 'agent: two again']);
    await using small = remembering({ maxBytes: 400 });
    await small.send(userRequest('x'.repeat(500), { contextId }));
    await small.send(userRequest('four', { contextId }));
    expect(seen[4]).toEqual([]);
  });

  it('returns many turns from several pages', async () => {
    await using agent = remembering();
    const contextId = 'c';
    for (let turn = 0; turn < 60; turn++) await agent.send(userRequest(`t${turn}`, { contextId }));
    expect(seen.at(-1)).toHaveLength(100);
    expect(seen.at(-1)?.[0]).toBe('user: t9');
    expect(seen.at(-1)?.at(-1)).toBe('agent: t58 again');
  });

  it('returns copies', async () => {
    await using agent = remembering(undefined, {
      async process(context) {
        for (const message of await context.history()) message.parts = [{ text: 'changed' }];
        return 'done';
      },
    });
    const { id, contextId } = expectTask(await agent.send(userRequest('one')));
    await agent.send(userRequest('two', { contextId }));
    expect(JSON.stringify(await agent.getTask({ id }))).not.toContain('changed');
  });

  it('works for direct replies', async () => {
    await using agent = remembering(undefined, {
      allowDirectReply: true,
      async process(context) {
        const history = await context.history();
        if (context.text !== 'end') return `${history.length}`;
        return { messageId: 'm', role: 'agent', parts: [{ text: lines(history).join(', ') }] };
      },
    });
    const { contextId } = expectTask(await agent.send(userRequest('start')));
    expect(textOf(((await agent.send(userRequest('end', { contextId }))) as Message).parts)).toBe(
      'user: start, agent: 0',
    );
  });
});
