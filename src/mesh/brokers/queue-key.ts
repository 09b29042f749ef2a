import { createHash } from 'node:crypto';
import { A2AError } from '../../protocol/errors.ts';

/** Hashes a queue name to 23 letters and digits, which all brokers accept as an identifier. */
export function queueKey(queue: string): string {
  return `q${createHash('sha256').update(queue).digest('hex').slice(0, 22)}`;
}

/** Creates the error for a queue with another subscriber. */
export function queueInUseError(name: string): A2AError {
  return new A2AError('CONFLICT', `Queue ${name} is in use by another subscriber`, {
    hint: 'Subscribe with `shared` in all subscribers, or use another queue name.',
  });
}
