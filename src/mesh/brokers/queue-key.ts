import { createHash } from 'node:crypto';
import { A2AError } from '../../protocol/errors.ts';

/** The name of a queue as one that every broker takes for its own things: 23 letters and digits. */
export function queueKey(queue: string): string {
  return `q${createHash('sha256').update(queue).digest('hex').slice(0, 22)}`;
}

/** The error for a queue that somebody subscribes to. */
export function queueInUseError(name: string): A2AError {
  return new A2AError('CONFLICT', `The queue ${name} has a subscriber already`, {
    hint: 'Subscribe to it as shared, from both sides, or under another name.',
  });
}
