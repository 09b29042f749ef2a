import { A2AError } from '../../../protocol/errors.ts';
import { isTerminal, type TaskStatus } from '../../../protocol/task.ts';
import type { MutantAgent } from '../harness/mutant-agent.ts';
import { in1_0, operationMutants, inAllVersions } from '../harness/operation-mutants.ts';
import { cancelOnAbort, endsTask, mapEvents, rejectedStream } from '../harness/stream-overrides.ts';

/** Creates a mutant whose subscriptions start with another status of the task. */
function staleSnapshot(
  id: string,
  description: string,
  change: (status: TaskStatus) => TaskStatus,
): MutantAgent {
  return in1_0(id, description, (agent) => ({
    subscribe: (request, call) =>
      mapEvents(agent.subscribe(request, call), (event, index) =>
        index === 0 && event.kind === 'task'
          ? [{ ...event, task: { ...event.task, status: change(event.task.status) } }]
          : [event],
      ),
  }));
}

/** Mutants of SubscribeToTask. */
export const subscribeMutants: readonly MutantAgent[] = [
  in1_0('subscribe.running:refused', 'Subscribing to a running task is rejected.', () => ({
    subscribe: () => rejectedStream(),
  })),
  staleSnapshot(
    'subscribe.current:submitted',
    'A subscription starts with the state submitted.',
    (status) => ({
      ...status,
      state: 'submitted',
    }),
  ),
  staleSnapshot('subscribe.current:older', 'A subscription starts with an earlier status.', (status) => ({
    ...status,
    timestamp: new Date(Date.parse(status.timestamp ?? '') - 5_000).toISOString(),
  })),
  operationMutants(['0.3', '0.1'])(
    'subscribe.again-0.3:refused-again',
    'Resubscribing to a running task is rejected.',
    () => ({ subscribe: () => rejectedStream() }),
  ),
  in1_0('subscribe.terminal:finished', 'Subscribing to a finished task is accepted.', (agent) => ({
    async *subscribe({ id, ...request }, call) {
      const task = await agent.getTask({ id }, call);
      if (isTerminal(task.status.state)) yield { kind: 'task', task };
      else yield* agent.subscribe({ id, ...request }, call);
    },
  })),
  inAllVersions(
    'subscribe.unknown:unknown',
    'An unknown task is rejected as invalid parameters.',
    (agent) => ({
      async *subscribe(request, call) {
        try {
          yield* agent.subscribe(request, call);
        } catch (error) {
          throw (error as A2AError).reason === 'TASK_NOT_FOUND'
            ? new A2AError('INVALID_PARAMS', 'No')
            : error;
        }
      },
    }),
  ),
  in1_0('subscribe.two:shares', 'Two subscribers share the events of a task.', (agent) => {
    let turn = 0;
    return {
      subscribe(request, call) {
        const skippedParity = turn++ % 2;
        let count = 0;
        return mapEvents(agent.subscribe(request, call), (event) =>
          event.kind === 'status' && !endsTask(event) && count++ % 2 === skippedParity ? [] : [event],
        );
      },
    };
  }),
  in1_0(
    'subscribe.one-leaves:all-leave',
    'The task is canceled when one subscriber disconnects.',
    (agent) => ({
      subscribe: (request, call) => cancelOnAbort(agent, agent.subscribe(request, call)),
    }),
  ),
];
