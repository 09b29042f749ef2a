import { A2AError } from '../../../protocol/errors.ts';
import { defineBroken } from '../harness/mutant-agent.ts';
import { all, done, errs, stale } from '../harness/operation-mutant.ts';

/** Agents that break the rules of GetTask. */
export const brokenGet = defineBroken([
  done(
    'forgets',
    'get.known',
    'A task is forgotten once it was answered.',
    () => ({ getTask: ({ id }) => Promise.reject(new A2AError('TASK_NOT_FOUND', id)) }),
    all,
  ),
  done('stale', 'get.known', 'A task is shown as it began.', stale, all),
  done(
    'wrong-error',
    'get.unknown',
    'An unknown task is an internal error.',
    errs('getTask', 'TASK_NOT_FOUND', 'INTERNAL_ERROR'),
    all,
  ),
  done(
    'invalid',
    'get.unknown',
    'An unknown task is an invalid parameter.',
    errs('getTask', 'TASK_NOT_FOUND', 'INVALID_PARAMS'),
    all,
  ),
  {
    id: 'get.unknown:empty',
    breaks: 'get.unknown',
    what: 'A task that does not exist is answered as if it were there.',
    versions: ['1.0', '0.3'],
    transports: ['JSONRPC'],
    wire: () => ({
      answer(answer, { operation }) {
        const { error, ...envelope } = (answer.json ?? {}) as { error?: unknown };
        if (!error || !/GetTask|tasks\/get/.test(operation)) return;
        answer.json = {
          ...envelope,
          result: { id: 'x', contextId: 'c', kind: 'task', status: { state: 'working' } },
        };
      },
    }),
  },
]);
