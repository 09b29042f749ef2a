import type { RequestOf, StreamOpening } from '../../dialects/dialect.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import type { Streaming } from './transport-binding.ts';

/** What the reader of a stream should know from the request that opens it. */
export function openingOf<O extends Streaming>(operation: O, request: RequestOf[O]): StreamOpening {
  if (operation === 'subscribe') return { taskId: (request as RequestOf['subscribe']).id };
  const { message, claimedTaskId } = request as SendRequest;
  return { taskId: claimedTaskId ?? message.taskId, contextId: message.contextId, message };
}
