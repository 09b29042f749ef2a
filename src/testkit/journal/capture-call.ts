import type { CallContext } from '../../protocol/agent.ts';
import type { Message } from '../../protocol/message.ts';
import type { CapturedCall } from './journal-entry.ts';
import type { ExchangeCapture } from './exchange-capture.ts';

/** Builds the journal record of a decoded call. */
export function captureCall(
  operation: CapturedCall['operation'],
  request: unknown,
  { version, principal }: CallContext,
  { transport }: ExchangeCapture,
): CapturedCall {
  const { id, taskId, message, clientTaskId, contextId } = request as {
    id?: string;
    taskId?: string;
    clientTaskId?: string;
    contextId?: string;
    message?: Message;
  };
  return {
    operation,
    version: operation === 'card' ? undefined : version,
    transport,
    request,
    message,
    messageId: message?.messageId,
    // Push configuration requests have an `id` in addition to `taskId`.
    taskId: taskId ?? message?.taskId ?? clientTaskId ?? id,
    contextId: message?.contextId ?? contextId,
    principal,
  };
}
