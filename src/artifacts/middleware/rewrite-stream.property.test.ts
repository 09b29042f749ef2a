import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { stubAgent } from '../../../test/support/agent-stub.ts';
import { defineAgent } from '../../engine/index.ts';
import type { TaskArtifactUpdateEvent, StreamEvent } from '../../protocol/event.ts';
import { lintStream } from '../../protocol/lint-stream.ts';
import { type Part, type RawPart, textOf } from '../../protocol/part.ts';
import { reduce } from '../../protocol/reduce.ts';
import { isTask, type Task } from '../../protocol/task.ts';
import { memoryArtifactStore } from '../stores/memory.ts';
import { readArtifactUri } from '../artifact-uri.ts';
import { withArtifacts } from '../with-artifacts.ts';

const ids = { taskId: 't', contextId: 's' };
const request = {
  message: { messageId: 'm', role: 'user' as const, contextId: 's', parts: [{ text: 'go' }] },
};

/** One artifact update of an agent. */
interface Step {
  artifact: 'a' | 'b' | 'c';
  bytes: string | undefined;
  text: string | undefined;
  isLast: boolean;
}

const step: fc.Arbitrary<Step> = fc.record({
  artifact: fc.constantFrom('a', 'b', 'c'),
  bytes: fc.option(fc.string({ minLength: 1, maxLength: 8 }), { nil: undefined }),
  text: fc.option(fc.string({ minLength: 1, maxLength: 8 }), { nil: undefined }),
  isLast: fc.boolean(),
});

/** Builds a valid stream from any steps. */
function buildStream(steps: readonly Step[]): StreamEvent[] {
  const started = new Set<string>();
  const closed = new Set<string>();
  const events: StreamEvent[] = [
    { kind: 'task', task: { id: 't', contextId: 's', status: { state: 'working' } } },
  ];
  for (const { artifact, bytes, text, isLast } of steps) {
    const parts: Part[] = [];
    if (bytes !== undefined)
      parts.push({ raw: Buffer.from(bytes).toString('base64'), filename: `${artifact}.bin` });
    if (text !== undefined) parts.push({ text });
    if (parts.length === 0 || closed.has(artifact)) continue;
    const event: TaskArtifactUpdateEvent = {
      kind: 'artifact',
      ...ids,
      artifact: { artifactId: artifact, parts },
    };
    if (started.has(artifact)) event.append = true;
    if (isLast) event.lastChunk = true;
    started.add(artifact);
    if (isLast) closed.add(artifact);
    events.push(event);
  }
  events.push({ kind: 'status', ...ids, status: { state: 'completed' } });
  return events;
}

const reduceToTask = (events: StreamEvent[]): Task => {
  const task = reduce(events);
  if (!task || !isTask(task)) throw new Error('no task');
  return task;
};
const artifactParts = (task: Task, id: string): Part[] =>
  task.artifacts?.find(({ artifactId }) => artifactId === id)?.parts ?? [];

it('keeps the stream valid and the content complete for any chunking', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 16 }), async (steps) => {
      const events = buildStream(steps);
      const store = memoryArtifactStore();
      const inner = stubAgent(defineAgent({ name: 'x', description: '', process: () => 'ok' }), {
        async *stream() {
          yield* events;
        },
        getTask: async () => reduceToTask(events),
      });
      const agent = withArtifacts(inner, { store, app: 'x' });
      const rewritten: StreamEvent[] = [];
      for await (const event of agent.stream(request, { owner: 'alice' })) rewritten.push(event);
      expect(lintStream(events)).toEqual([]);
      expect(lintStream(rewritten)).toEqual([]);
      const input = reduceToTask(events);
      const output = reduceToTask(rewritten);
      const produced: unknown[] = [];
      for (const id of ['a', 'b', 'c']) {
        const bytes = artifactParts(input, id).filter((part): part is RawPart => 'raw' in part);
        const links = artifactParts(output, id).flatMap((part) => ('url' in part ? [part.url] : []));
        const texts = (task: Task) => textOf(artifactParts(task, id));
        expect(texts(output)).toEqual(texts(input));
        expect(links).toHaveLength(bytes.length > 0 ? 1 : 0);
        const uri = links[0] === undefined ? undefined : readArtifactUri(links[0]);
        if (!uri) continue;
        produced.push({ filename: `${id}.bin`, version: 0 });
        const stored = Buffer.from((await (await store.load(uri, uri.version))?.bytes()) ?? []);
        expect(stored).toEqual(Buffer.concat(bytes.map(({ raw }) => Buffer.from(raw, 'base64'))));
        expect(await store.versions(uri)).toEqual([0]);
      }
      const listed = output.metadata?.produced_artifacts as unknown[] | undefined;
      expect(listed ?? []).toHaveLength(produced.length);
      expect(listed ?? []).toEqual(expect.arrayContaining(produced));
      const fetched = await agent.getTask({ id: 't' }, { owner: 'alice' });
      expect(fetched.metadata).toEqual(output.metadata);
      expect(await store.list({ app: 'x', user: 'alice', session: 's' })).toHaveLength(2 * produced.length);
    }),
    { numRuns: 300 },
  );
});
