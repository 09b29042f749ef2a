import type { RequestOf, StreamOpenContext } from '../../dialects/dialect.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import type { StreamingOperation } from './transport-binding.ts';

/** Returns the ids and the message of a request that opens a stream, which its decoder needs. */
export function streamOpenContext<O extends StreamingOperation>(
  operation: O,
  request: RequestOf[O],
): StreamOpenContext {
  if (operation === 'subscribe') return { taskId: (request as RequestOf['subscribe']).id };
  const { message, clientTaskId } = request as SendRequest;
  return { taskId: clientTaskId ?? message.taskId, contextId: message.contextId, message };
}
