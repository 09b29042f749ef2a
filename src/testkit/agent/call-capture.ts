import type { CallContext } from '../../protocol/agent.ts';
import { captureCall } from '../journal/capture-call.ts';
import type { ExchangeCapture } from '../journal/exchange-capture.ts';
import type { Journal } from '../journal/journal.ts';

/** Internal request header with the capture id, which connects a call to its journal entry. */
export const captureIdHeader = 'x-testkit-capture-id';

/** Records a call in the journal. @returns undefined if the call did not arrive over HTTP. */
export function captureAgentCall(
  journal: Journal,
  operation: Parameters<typeof captureCall>[0],
  request: unknown,
  call: CallContext = {},
): ExchangeCapture | undefined {
  const id = call.headers?.[captureIdHeader];
  const capture = id === undefined ? undefined : journal.openCapture(Number(id));
  capture?.setCall(captureCall(operation, request, call, capture));
  return capture;
}
