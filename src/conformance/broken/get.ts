import { defineBroken } from './broken-agent.ts';

/** Agents that break the rules of GetTask. */
export const brokenGet = defineBroken([
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
