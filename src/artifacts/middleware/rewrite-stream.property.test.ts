import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { stubAgent } from '../../../test/support/agent-stub.ts';
import { defineAgent } from '../../engine/index.ts';
import type { TaskArtifactUpdateEvent, StreamEvent } from '../../protocol/event.ts';
import { lintStream } from '../../protocol/lint-stream.ts';
import type { Part, RawPart } from '../../protocol/part.ts';
import { reduce } from '../../protocol/reduce.ts';
import { isTask, type Task } from '../../protocol/task.ts';
import { memoryArtifactStore } from '../stores/memory.ts';
import { readArtifactUri } from '../artifact-uri.ts';
import { withArtifacts } from '../with-artifacts.ts';

const ids = { taskId: 't', contextId: 's' };
const request = {
  message: { messageId: 'm', role: 'user' as const, contextId: 's', parts: [{ text: 'go' }] },
};

/** What one step of an agent adds: bytes, a text or both, and whether the artifact ends with it. */
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

/** A legal stream out of any steps. */
function streamOf(steps: readonly Step[]): StreamEvent[] {
  const begun = new Set<string>();
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
    if (begun.has(artifact)) event.append = true;
    if (isLast) event.lastChunk = true;
    begun.add(artifact);
    if (isLast) closed.add(artifact);
    events.push(event);
  }
  events.push({ kind: 'status', ...ids, status: { state: 'completed' } });
  return events;
}

const taskOf = (events: StreamEvent[]): Task => {
  const task = reduce(events);
  if (!task || !isTask(task)) throw new Error('no task');
  return task;
};
const partsOf = (task: Task, id: string): Part[] =>
  task.artifacts?.find(({ artifactId }) => artifactId === id)?.parts ?? [];

it('stays legal and loses nothing, however an artifact comes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 16 }), async (steps) => {
      const events = streamOf(steps);
      const store = memoryArtifactStore();
      const inner = stubAgent(defineAgent({ name: 'x', description: '', process: () => 'ok' }), {
        async *stream() {
          yield* events;
        },
        getTask: async () => taskOf(events),
      });
      const agent = withArtifacts(inner, { store, app: 'x' });
      const seen: StreamEvent[] = [];
      for await (const event of agent.stream(request, { owner: 'alice' })) seen.push(event);
      expect(lintStream(events)).toEqual([]);
      expect(lintStream(seen)).toEqual([]);
      const given = taskOf(events);
      const got = taskOf(seen);
      const produced: unknown[] = [];
      for (const id of ['a', 'b', 'c']) {
        const bytes = partsOf(given, id).filter((part): part is RawPart => 'raw' in part);
        const links = partsOf(got, id).flatMap((part) => ('url' in part ? [part.url] : []));
        const texts = (task: Task) => partsOf(task, id).filter((part) => 'text' in part);
        expect(texts(got)).toEqual(texts(given));
        expect(links).toHaveLength(bytes.length > 0 ? 1 : 0);
        const uri = links[0] === undefined ? undefined : readArtifactUri(links[0]);
        if (!uri) continue;
        produced.push({ filename: `${id}.bin`, version: 0 });
        const stored = Buffer.from((await (await store.load(uri, uri.version))?.bytes()) ?? []);
        expect(stored).toEqual(Buffer.concat(bytes.map(({ raw }) => Buffer.from(raw, 'base64'))));
        expect(await store.versions(uri)).toEqual([0]);
      }
      const listed = got.metadata?.produced_artifacts as unknown[] | undefined;
      expect(listed ?? []).toHaveLength(produced.length);
      expect(listed ?? []).toEqual(expect.arrayContaining(produced));
      const asked = await agent.getTask({ id: 't' }, { owner: 'alice' });
      expect(asked.metadata).toEqual(got.metadata);
      expect(await store.list({ app: 'x', user: 'alice', session: 's' })).toHaveLength(2 * produced.length);
    }),
    { numRuns: 300 },
  );
});
