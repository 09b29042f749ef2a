import {
  type Mutation,
  mutateEvery,
  mutateResult,
  mutateStream,
  dropMember,
  type MutableJson,
  setMember,
  type WireKind,
} from '../harness/mutations.ts';
import { type MutantAgent, defineMutants } from '../harness/mutant-agent.ts';

const at = { versions: ['0.3'], transports: ['HTTP+JSON'] } as const;

/** An agent of 0.3 whose things of a kind are bent over REST. */
function bent(tag: string, id: string, what: string, kind: WireKind, bend: Mutation): MutantAgent {
  return {
    id: `0.3.${tag}:rest-${id}`,
    violates: `0.3.${tag}`,
    description: what,
    ...at,
    wire: () => mutateEvery(kind, bend),
  };
}

/** Agents of 0.3 that are wrong over REST alone. */
export const rest0_3Mutants = defineMutants([
  {
    id: '0.3.wrapped:bare-task',
    violates: '0.3.wrapped',
    description: 'The answer to a message is a task by itself.',
    ...at,
    wire: () => mutateResult(/message:send$/, ({ task }) => task),
  },
  {
    id: '0.3.wrapped:bare-events',
    violates: '0.3.wrapped',
    description: 'Events are not wrapped.',
    ...at,
    wire: () => mutateStream((event) => [Object.values(event)[0] as MutableJson]),
  },
  bent('task', 'no-context', 'A task does not say its context.', 'task', dropMember('contextId')),
  bent('status', 'word', 'A state is none.', 'status', setMember('state', 'TASK_STATE_DONE')),
  bent('artifact', 'no-id', 'An artifact has no id.', 'artifact', dropMember('artifactId')),
  bent('event', 'no-task', 'A status update names no task.', 'statusUpdate', dropMember('taskId')),
  bent('part', 'empty', 'Parts have no content.', 'part', (part) => {
    delete part.text;
  }),
]);
