import type { JsonObject } from '../../../primitives/json.ts';
import { type MutantAgent, mutant } from '../harness/mutant-agent.ts';
import {
  missingMemberMutants,
  mutateEvery,
  mutateResult,
  mutateStream,
  setMember,
} from '../harness/mutations.ts';

const variant = { versions: ['0.3'], transports: ['HTTP+JSON'] } as const;

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
  ...missingMemberMutants(
    {
      '0.3.task': ['task', 'contextId'],
      '0.3.artifact': ['artifact', 'artifactId'],
      '0.3.event': ['statusUpdate', 'taskId'],
      '0.3.part': ['part', 'text'],
    },
    variant,
  ).map((each) => ({ ...each, id: `${each.id}-rest` })),
  mutant('0.3.status:rest-word', 'A status has an unknown state.', {
    ...variant,
    wire: () => mutateEvery('status', setMember('state', 'TASK_STATE_DONE')),
  }),
];
