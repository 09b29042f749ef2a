import { A2AError } from '../../../protocol/errors.ts';
import { defineMutants } from '../harness/mutant-agent.ts';
import {
  allVersions,
  operationMutant,
  replaceErrors,
  returnStaleTasks,
} from '../harness/operation-mutant.ts';

/** Agents that break the rules of GetTask. */
export const getMutants = defineMutants([
  operationMutant(
    'forgets',
    'get.known',
    'A task is forgotten once it was answered.',
    () => ({ getTask: ({ id }) => Promise.reject(new A2AError('TASK_NOT_FOUND', id)) }),
    allVersions,
  ),
  operationMutant('stale', 'get.known', 'A task is shown as it began.', returnStaleTasks, allVersions),
  operationMutant(
    'wrong-error',
    'get.unknown',
    'An unknown task is an internal error.',
    replaceErrors('getTask', 'TASK_NOT_FOUND', 'INTERNAL_ERROR'),
    allVersions,
  ),
  operationMutant(
    'invalid',
    'get.unknown',
    'An unknown task is an invalid parameter.',
    replaceErrors('getTask', 'TASK_NOT_FOUND', 'INVALID_PARAMS'),
    allVersions,
  ),
  {
    id: 'get.unknown:empty',
    violates: 'get.unknown',
    description: 'A task that does not exist is answered as if it were there.',
    versions: ['1.0', '0.3'],
    transports: ['JSONRPC'],
    wire: () => ({
      response(answer, { operation }) {
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
