import type { Delivery, Ledger } from '../ledger/ledger.ts';
import { A2AError } from '../protocol/errors.ts';
import { listDeliveries, retryDeadLetters } from '../push/dead-letters.ts';
import { addressOf } from '../push/signer.ts';
import type { PushEntry } from './api.ts';
import { readBody, retryWish } from './bodies.ts';
import type { Routes } from './route.ts';

/** Shows push notifications that did not arrive. */
export function pushRoutes(ledger: Ledger | undefined): Routes {
  return {
    'GET pushes': async () => ({ json: ledger ? (await listDeliveries(ledger)).map(entryOf) : [] }),
    'POST pushes/retry': async ({ body }) => {
      const wish = readBody(retryWish, body);
      if (!ledger)
        throw new A2AError('UNSUPPORTED_OPERATION', 'This console does not see where tasks are kept', {
          hint: 'Use dragoman push retry --store sqlite:FILE.',
        });
      return { json: { retried: (await retryDeadLetters(ledger, wish)).length } };
    },
  };
}

/** What people are told. The secrets of the webhook are not among it. */
function entryOf({ config, state, sequence }: Delivery): PushEntry {
  const { deadSince, error, attempts, delivered } = state;
  return {
    taskId: config.taskId,
    configId: config.id,
    url: addressOf(config.url),
    attempts,
    waiting: sequence - delivered,
    ...(deadSince !== undefined && { deadSince }),
    ...(error !== undefined && { problem: error }),
  };
}
