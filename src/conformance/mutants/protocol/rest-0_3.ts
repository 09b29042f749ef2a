import { type Bend, bendEvery, bendResult, bendStream, drop, type Loose, set, type Thing } from '../harness/mutations.ts';
import { type BrokenAgent, defineBroken } from '../harness/mutant-agent.ts';

const at = { versions: ['0.3'], transports: ['HTTP+JSON'] } as const;

/** An agent of 0.3 whose things of a kind are bent over REST. */
function bent(tag: string, id: string, what: string, kind: Thing, bend: Bend): BrokenAgent {
  return {
    id: `0.3.${tag}:rest-${id}`,
    breaks: `0.3.${tag}`,
    what,
    ...at,
    wire: () => bendEvery(kind, bend),
  };
}

/** Agents of 0.3 that are wrong over REST alone. */
export const brokenRestBefore = defineBroken([
  {
    id: '0.3.wrapped:bare-task',
    breaks: '0.3.wrapped',
    what: 'The answer to a message is a task by itself.',
    ...at,
    wire: () => bendResult(/message:send$/, ({ task }) => task),
  },
  {
    id: '0.3.wrapped:bare-events',
    breaks: '0.3.wrapped',
    what: 'Events are not wrapped.',
    ...at,
    wire: () => bendStream((event) => [Object.values(event)[0] as Loose]),
  },
  bent('task', 'no-context', 'A task does not say its context.', 'task', drop('contextId')),
  bent('status', 'word', 'A state is none.', 'status', set('state', 'TASK_STATE_DONE')),
  bent('artifact', 'no-id', 'An artifact has no id.', 'artifact', drop('artifactId')),
  bent('event', 'no-task', 'A status update names no task.', 'statusUpdate', drop('taskId')),
  bent('part', 'empty', 'Parts have no content.', 'part', (part) => {
    delete part.text;
  }),
]);
