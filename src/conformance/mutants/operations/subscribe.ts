import { A2AError } from '../../../protocol/errors.ts';
import { isTerminal } from '../../../protocol/task.ts';
import { defineBroken } from '../harness/mutant-agent.ts';
import { all, done } from '../harness/operation-mutant.ts';
import { canceling, failing, isEnd, mapped } from '../harness/override-agent.ts';

/** Agents that break the rules of SubscribeToTask. */
export const brokenSubscribe = defineBroken([
  done('refused', 'subscribe.running', 'A running task cannot be followed.', () => ({
    subscribe: () => failing('UNSUPPORTED_OPERATION'),
  })),
  done(
    'refused-again',
    'subscribe.again-0.3',
    'A running task cannot be followed again.',
    () => ({ subscribe: () => failing('UNSUPPORTED_OPERATION') }),
    ['0.3', '0.1'],
  ),
  done('finished', 'subscribe.terminal', 'A finished task can be followed.', (agent) => ({
    async *subscribe({ id, ...request }, call) {
      const task = await agent.getTask({ id }, call);
      if (isTerminal(task.status.state)) yield { kind: 'task', task };
      else yield* agent.subscribe({ id, ...request }, call);
    },
  })),
  done(
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
    all,
  ),
  done('shares', 'subscribe.two', 'Two readers share the events of a task.', (agent) => {
    let turn = 0;
    return {
      subscribe(request, call) {
        const mine = turn++ % 2;
        let seen = 0;
        return mapped(agent.subscribe(request, call), (event) =>
          event.kind === 'status' && !isEnd(event) && seen++ % 2 === mine ? [] : [event],
        );
      },
    };
  }),
  done('all-leave', 'subscribe.one-leaves', 'When one reader leaves, the task is canceled.', (agent) => ({
    subscribe: (request, call) => canceling(agent, agent.subscribe(request, call)),
  })),
]);
