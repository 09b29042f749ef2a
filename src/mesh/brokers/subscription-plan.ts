import { invalidField } from '../../protocol/errors.ts';
import type { SubscribeOptions } from './broker-connection.ts';
import { checkPattern } from './topic-pattern.ts';

/** Patterns and options of a subscription, with defaults applied. */
export interface SubscriptionPlan {
  readonly list: readonly string[];
  readonly queue: string | undefined;
  readonly shared: boolean;
  readonly concurrency: number;
}

/** Validates patterns and options, and applies defaults. */
export function resolveSubscription(
  patterns: string | readonly string[],
  { queue, shared = false, concurrency = 64 }: SubscribeOptions,
): SubscriptionPlan {
  const list = [...new Set(typeof patterns === 'string' ? [patterns] : patterns)];
  if (list.length === 0) throw invalidField('patterns', 'must not be empty');
  for (const pattern of list) checkPattern(pattern);
  if (queue === '') throw invalidField('queue', 'must not be empty');
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > 65_535)
    throw invalidField('concurrency', 'must be an integer from 1 to 65535');
  return { list, queue, shared, concurrency };
}
