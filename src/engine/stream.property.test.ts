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
const message = (said: string): Message => ({ messageId: '', role: 'agent', parts: [{ text: said }] });
const artifactId = fc.constantFrom('a', 'b', 'c');
const saying = fc.oneof(text, fc.array(fc.record({ text }), { maxLength: 2 }), text.map(message));

const output: fc.Arbitrary<AgentOutput> = fc.oneof(
  { weight: 4, arbitrary: text },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(...taskStates), fc.option(saying, { nil: undefined }))
      .map(([state, said]) => status(state, said)),
  },
  { weight: 3, arbitrary: fc.constant(status('working', 'still')) },
  { weight: 2, arbitrary: text.map(message) },
  {
    weight: 2,
    arbitrary: fc.tuple(text, artifactId).map(([said, id]) => artifact(said, { artifactId: id })),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(artifactId, text, fc.boolean(), fc.boolean())
      .map(([id, said, append, lastChunk]) => chunk(id, said, { append, lastChunk })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom({}, null, 7, { state: 'asleep' }).map((bad) => bad as unknown as AgentOutput),
  },
);

const ending = fc.constantFrom('returns', 'throws');

it('tells a legal story that amounts to the task, whatever its agent gives', async () => {
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
            // While it waits for authorization it is not over, and neither is the stream.
            yield status('working');
            if (end === 'throws') throw new Error('no');
          },
        });
        const events = await collectStream(agent.stream(userRequest('go')));
        expect(lintStream(events).filter(({ level }) => level === 'error')).toEqual([]);
        if (events[0]?.kind === 'message') return;
        const told = reduce(events) as Task;
        expect(isTerminal(told.status.state) || isInterrupted(told.status.state)).toBe(true);
        expect(told).toEqual(await agent.getTask({ id: told.id }));
      },
    ),
    { numRuns: 500 },
  );
});
