import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { collectStream, userRequest } from '../../test/support/engine/conversation.ts';
import { lintStream } from '../protocol/lint-stream.ts';
import type { Message } from '../protocol/message.ts';
import { reduce } from '../protocol/reduce.ts';
import { isInterrupted, isTerminal, type Task, taskStates } from '../protocol/task.ts';
import { defineAgent } from './local-agent.ts';
import { artifact, chunk, type AgentOutput, status } from './agent-output.ts';

const text = fc.string({ maxLength: 5 });
const message = (content: string): Message => ({ messageId: '', role: 'agent', parts: [{ text: content }] });
const artifactId = fc.constantFrom('a', 'b', 'c');
const saying = fc.oneof(text, fc.array(fc.record({ text }), { maxLength: 2 }), text.map(message));

const output: fc.Arbitrary<AgentOutput> = fc.oneof(
  { weight: 4, arbitrary: text },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(...taskStates), fc.option(saying, { nil: undefined }))
      .map(([state, content]) => status(state, content)),
  },
  { weight: 3, arbitrary: fc.constant(status('working', 'still')) },
  { weight: 2, arbitrary: text.map(message) },
  {
    weight: 2,
    arbitrary: fc.tuple(text, artifactId).map(([content, id]) => artifact(content, { artifactId: id })),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(artifactId, text, fc.boolean(), fc.boolean())
      .map(([id, content, append, lastChunk]) => chunk(id, content, { append, lastChunk })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom({}, null, 7, { state: 'asleep' }).map((bad) => bad as unknown as AgentOutput),
  },
);

const ending = fc.constantFrom('returns', 'throws');

it('stream() returns a valid event sequence that reduces to the task, for any output', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(output, { maxLength: 12 }),
      ending,
      fc.boolean(),
      async (outputs, end, isDirect) => {
        const agent = defineAgent({
          name: 'T',
          description: 'T',
          allowDirectReply: isDirect,
          async *process() {
            yield* outputs;
            // auth-required ends neither the task nor the stream.
            yield status('working');
            if (end === 'throws') throw new Error('no');
          },
        });
        const events = await collectStream(agent.stream(userRequest('go')));
        expect(lintStream(events).filter(({ level }) => level === 'error')).toEqual([]);
        if (events[0]?.kind === 'message') return;
        const reduced = reduce(events) as Task;
        expect(isTerminal(reduced.status.state) || isInterrupted(reduced.status.state)).toBe(true);
        expect(reduced).toEqual(await agent.getTask({ id: reduced.id }));
      },
    ),
    { numRuns: 500 },
  );
});
