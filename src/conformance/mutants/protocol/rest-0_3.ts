import type { JsonObject } from '../../../primitives/json.ts';
import { type MutantAgent, mutant } from '../harness/mutant-agent.ts';
import {
  type Mutation,
  type WireKind,
  dropMember,
  mutateEvery,
  mutateResult,
  mutateStream,
  setMember,
} from '../harness/mutations.ts';

const variant = { versions: ['0.3'], transports: ['HTTP+JSON'] } as const;

function everyMutant(id: string, description: string, kind: WireKind, mutate: Mutation): MutantAgent {
  return mutant(id, description, { ...variant, wire: () => mutateEvery(kind, mutate) });
}

/** Mutants of 0.3 over REST. */
export const rest0_3Mutants: readonly MutantAgent[] = [
  mutant('0.3.wrapped:bare-task', 'The result of a send is a bare task.', {
    ...variant,
    wire: () => mutateResult(/message:send$/, ({ task }) => task),
  }),
  mutant('0.3.wrapped:bare-events', 'Events are not wrapped.', {
    ...variant,
    wire: () => mutateStream((event) => [Object.values(event)[0] as JsonObject]),
  }),
  everyMutant('0.3.task:rest-no-context', 'A task has no contextId.', 'task', dropMember('contextId')),
  everyMutant(
    '0.3.status:rest-word',
    'A status has an unknown state.',
    'status',
    setMember('state', 'TASK_STATE_DONE'),
  ),
  everyMutant('0.3.artifact:rest-no-id', 'An artifact has no id.', 'artifact', dropMember('artifactId')),
  everyMutant(
    '0.3.event:rest-no-task',
    'A status update has no taskId.',
    'statusUpdate',
    dropMember('taskId'),
  ),
  everyMutant('0.3.part:rest-empty', 'Parts have no content.', 'part', dropMember('text')),
];
