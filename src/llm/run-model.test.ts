import { describe, expect, it } from 'vitest';
import {
  artifactTexts,
  collectStream,
  expectTask,
  statusTextOf,
  userRequest,
} from '../../test/support/engine/conversation.ts';
import { defineAgent, type LocalAgent } from '../engine/local-agent.ts';
import type { LogEntry } from '../engine/agent-definition.ts';
import type { ModelEvent } from './model-event.ts';
import { type ModelRunOptions, runModel } from './run-model.ts';

function modelAgent(
  events: () => AsyncIterable<ModelEvent>,
  options: ModelRunOptions = {},
  log: (entry: LogEntry) => void = () => {},
): LocalAgent {
  return defineAgent(
    { name: 'Model', description: 'A model', process: () => runModel(events(), options) },
    { log },
  );
}

async function* list(...events: ModelEvent[]): AsyncGenerator<ModelEvent> {
  yield* events;
}

describe('runModel', () => {
  it('streams text deltas as chunks of one artifact', async () => {
    const agent = modelAgent(() => list({ type: 'text', text: 'Hel' }, { type: 'text', text: 'lo' }));
    const events = await collectStream(agent.stream(userRequest('hi')));
    const chunks = events.filter((event) => event.kind === 'artifact');
    expect(chunks.map(({ artifact, append }) => [artifact.parts, append])).toEqual([
      [[{ text: 'Hel' }], false],
      [[{ text: 'lo' }], true],
    ]);
    expect(new Set(chunks.map(({ artifact }) => artifact.artifactId)).size).toBe(1);
  });

  it('reports tool calls without their input, and separates the texts around them', async () => {
    const agent = modelAgent(() =>
      list(
        { type: 'text', text: 'Let me look.' },
        { type: 'tool-call', name: 'search', id: '1', input: { secret: 'x' } },
        { type: 'text', text: 'Found it.' },
      ),
    );
    const events = await collectStream(agent.stream(userRequest('hi')));
    const working = events.flatMap((event) =>
      event.kind === 'status' && event.status.message ? [event.status.message.parts] : [],
    );
    expect(working).toEqual([
      [{ text: 'Calling search', metadata: { toolCall: { name: 'search', id: '1' } } }],
    ]);
    expect(JSON.stringify(events)).not.toContain('secret');
    const task = expectTask(await agent.send(userRequest('hi')));
    expect(artifactTexts(task)).toEqual(['Let me look.\n\nFound it.']);
  });

  it('lets the author describe or hide tool calls', async () => {
    const describeToolCall = ({ name }: { name: string }) =>
      name === 'hidden' ? undefined : `Using ${name}`;
    const agent = modelAgent(
      () => list({ type: 'tool-call', name: 'hidden' }, { type: 'tool-call', name: 'shown' }),
      { describeToolCall },
    );
    const events = await collectStream(agent.stream(userRequest('hi')));
    expect(JSON.stringify(events)).toContain('Using shown');
    expect(JSON.stringify(events)).not.toContain('hidden');
  });

  it('adds up the usage of all model calls in the metadata of the task', async () => {
    const agent = modelAgent(() =>
      list(
        { type: 'usage', usage: { inputTokens: 3, outputTokens: 4 } },
        { type: 'usage', usage: { inputTokens: 5, outputTokens: 6, totalTokens: 11 } },
        { type: 'finish', reason: 'stop' },
      ),
    );
    const task = expectTask(await agent.send(userRequest('hi')));
    expect(task.metadata).toEqual({
      finishReason: 'stop',
      usage: { inputTokens: 8, outputTokens: 10, totalTokens: 18 },
    });
  });

  it('returns files of the model as artifacts', async () => {
    const agent = modelAgent(() =>
      list({ type: 'file', bytes: 'AA==', mediaType: 'image/png', name: 'a.png' }),
    );
    const task = expectTask(await agent.send(userRequest('hi')));
    expect(task.artifacts?.[0]?.parts).toEqual([{ raw: 'AA==', mediaType: 'image/png', filename: 'a.png' }]);
  });

  it('fails the task and keeps the text if the model fails midway; only the author sees the error', async () => {
    const logged: LogEntry[] = [];
    const failure = new Error('quota of key sk-123 exceeded');
    const agent = modelAgent(
      async function* () {
        yield { type: 'text', text: 'Once upon' };
        throw failure;
      },
      {},
      (entry) => void logged.push(entry),
    );
    const task = expectTask(await agent.send(userRequest('hi')));
    expect(task.status.state).toBe('failed');
    expect(artifactTexts(task)).toEqual(['Once upon']);
    expect(statusTextOf(task)).not.toContain('sk-123');
    expect(logged).toMatchObject([{ level: 'error', error: failure, taskId: task.id }]);
  });
});
