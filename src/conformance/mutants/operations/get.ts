import { A2AError } from '../../../protocol/errors.ts';
import { type MutantAgent, mutant } from '../harness/mutant-agent.ts';
import { inAllVersions, replaceErrors, returnStaleTasks } from '../harness/operation-mutants.ts';

/** Mutants of GetTask. */
export const getMutants: readonly MutantAgent[] = [
  inAllVersions('get.known:forgets', 'A task is not found after its response.', () => ({
    getTask: ({ id }) => Promise.reject(new A2AError('TASK_NOT_FOUND', id)),
  })),
  inAllVersions('get.known:stale', 'A finished task is returned as working.', returnStaleTasks),
  inAllVersions(
    'get.unknown:wrong-error',
    'An unknown task causes an internal error.',
    replaceErrors('getTask', 'TASK_NOT_FOUND', 'INTERNAL_ERROR'),
  ),
  inAllVersions(
    'get.unknown:invalid',
    'An unknown task is rejected as invalid parameters.',
    replaceErrors('getTask', 'TASK_NOT_FOUND', 'INVALID_PARAMS'),
  ),
  mutant('get.unknown:empty', 'An unknown task is returned as if it existed.', {
    versions: ['1.0', '0.3'],
    transports: ['JSONRPC'],
    wire: () => ({
      response(response, { operation }) {
        const { error, ...envelope } = (response.json ?? {}) as { error?: unknown };
        if (!error || !/GetTask|tasks\/get/.test(operation)) return;
        response.json = {
          ...envelope,
          result: { id: 'x', contextId: 'c', kind: 'task', status: { state: 'working' } },
        };
      },
    }),
  }),
];
