import { A2AError } from '../../../protocol/errors.ts';
import { isTerminal } from '../../../protocol/task.ts';
import { defineMutants } from '../harness/mutant-agent.ts';
import { allVersions, operationMutant } from '../harness/operation-mutant.ts';
import { cancelOnAbort, rejectedStream, endsTask, mapEvents } from '../harness/override-agent.ts';

/** Agents that break the rules of SubscribeToTask. */
export const subscribeMutants = defineMutants([
  operationMutant('refused', 'subscribe.running', 'A running task cannot be followed.', () => ({
    subscribe: () => rejectedStream('UNSUPPORTED_OPERATION'),
  })),
  operationMutant(
    'refused-again',
    'subscribe.again-0.3',
    'A running task cannot be followed again.',
    () => ({ subscribe: () => rejectedStream('UNSUPPORTED_OPERATION') }),
    ['0.3', '0.1'],
  ),
  operationMutant('finished', 'subscribe.terminal', 'A finished task can be followed.', (agent) => ({
    async *subscribe({ id, ...request }, call) {
      const task = await agent.getTask({ id }, call);
      if (isTerminal(task.status.state)) yield { kind: 'task', task };
      else yield* agent.subscribe({ id, ...request }, call);
    },
  })),
  operationMutant(
    'unknown',
    'subscribe.unknown',
    'An unknown task is an invalid parameter.',
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
    allVersions,
  ),
  operationMutant('shares', 'subscribe.two', 'Two readers share the events of a task.', (agent) => {
    let turn = 0;
    return {
      subscribe(request, call) {
        const mine = turn++ % 2;
        let seen = 0;
        return mapEvents(agent.subscribe(request, call), (event) =>
          event.kind === 'status' && !endsTask(event) && seen++ % 2 === mine ? [] : [event],
        );
      },
    };
  }),
  operationMutant(
    'all-leave',
    'subscribe.one-leaves',
    'When one reader leaves, the task is canceled.',
    (agent) => ({
      subscribe: (request, call) => cancelOnAbort(agent, agent.subscribe(request, call)),
    }),
  ),
]);
