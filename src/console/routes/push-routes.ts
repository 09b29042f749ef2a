import type { PushDelivery, TaskStore } from '../../store/task-store.ts';
import { A2AError } from '../../protocol/errors.ts';
import { listDeliveries, retryDeadLetters } from '../../push/sending/dead-letters.ts';
import { stripQuery } from '../../push/sending/signer.ts';
import type { PushEntry } from '../console-api.ts';
import { parseRequestBody, pushRetrySchema } from './request-schemas.ts';
import type { ApiRoutes } from '../api-routes.ts';

/** Routes of undelivered push notifications in all known task stores. */
export function pushRoutes(taskStores: () => readonly TaskStore[]): ApiRoutes {
  return {
    'GET push-deliveries': async () => ({
      json: (await Promise.all(taskStores().map((each) => listDeliveries(each)))).flat().map(toEntry),
    }),
    'POST push-deliveries/retry': async ({ body }) => {
      const filter = parseRequestBody(pushRetrySchema, body);
      const stores = taskStores();
      if (stores.length === 0)
        throw new A2AError('UNSUPPORTED_OPERATION', 'The console has no task store', {
          hint: 'Start it with --store sqlite:FILE, or use dragoman push retry --store sqlite:FILE.',
        });
      const retried = await Promise.all(stores.map((each) => retryDeadLetters(each, filter)));
      return { json: { retried: retried.flat().length } };
    },
  };
}

/** Converts a delivery to its API form, without the secrets of the webhook. */
function toEntry({ config, state, sequence }: PushDelivery): PushEntry {
  const { deadSince, error, attempts, delivered } = state;
  return {
    taskId: config.taskId,
    configId: config.id,
    url: stripQuery(config.url),
    attempts,
    pendingCount: sequence - delivered,
    deadSince,
    error,
  };
}
