import type { PushDelivery, TaskStore } from '../../store/task-store.ts';
import { A2AError } from '../../protocol/errors.ts';
import { listDeliveries, retryDeadLetters } from '../../push/sending/dead-letters.ts';
import { stripQuery } from '../../push/sending/signer.ts';
import type { PushEntry } from '../console-api.ts';
import { parseRequestBody, pushRetrySchema } from './request-schemas.ts';
import type { ApiRoutes } from '../api-routes.ts';

/** Shows push notifications that did not arrive, of all agents whose ledgers are known. */
export function pushRoutes(ledgers: () => readonly TaskStore[]): ApiRoutes {
  return {
    'GET push-deliveries': async () => ({
      json: (await Promise.all(ledgers().map((each) => listDeliveries(each)))).flat().map(entryOf),
    }),
    'POST push-deliveries/retry': async ({ body }) => {
      const wish = parseRequestBody(pushRetrySchema, body);
      const known = ledgers();
      if (known.length === 0)
        throw new A2AError('UNSUPPORTED_OPERATION', 'This console does not see where tasks are kept', {
          hint: 'Start it with --store sqlite:FILE, or use dragoman push retry --store sqlite:FILE.',
        });
      const retried = await Promise.all(known.map((each) => retryDeadLetters(each, wish)));
      return { json: { retried: retried.flat().length } };
    },
  };
}

/** What people are told. The secrets of the webhook are not among it. */
function entryOf({ config, state, sequence }: PushDelivery): PushEntry {
  const { deadSince, error, attempts, delivered } = state;
  return {
    taskId: config.taskId,
    configId: config.id,
    url: stripQuery(config.url),
    attempts,
    pendingCount: sequence - delivered,
    ...(deadSince !== undefined && { deadSince }),
    ...(error !== undefined && { error: error }),
  };
}
