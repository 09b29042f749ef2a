import { invalidField } from '../../protocol/errors.ts';
import type { SubscribeOptions } from './broker-connection.ts';
import { checkPattern } from './topic-pattern.ts';

/** A subscription as asked for, with everything filled in. */
export interface SubscriptionPlan {
  readonly list: readonly string[];
  readonly queue: string | undefined;
  readonly shared: boolean;
  readonly concurrency: number;
}

/** Reads what somebody wants to subscribe to. */
export function resolveSubscription(
  patterns: string | readonly string[],
  { queue, shared = false, concurrency = 64 }: SubscribeOptions,
): SubscriptionPlan {
  const list = [...new Set(typeof patterns === 'string' ? [patterns] : patterns)];
  if (list.length === 0) throw invalidField('patterns', 'is empty');
  for (const pattern of list) checkPattern(pattern);
  if (queue === '') throw invalidField('queue', 'is empty');
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > 65_535)
    throw invalidField('concurrency', 'must be an integer from 1 to 65535');
  return { list, queue, shared, concurrency };
}
