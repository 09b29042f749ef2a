import type { CallContext } from '../../protocol/agent.ts';
import { A2AError } from '../../protocol/errors.ts';

/** Returns why a run cannot ask a question, or undefined. */
export function questionError(
  run: { readonly isOver: boolean; readonly isAsking: boolean },
  { waitUntil }: CallContext,
): A2AError | undefined {
  if (run.isOver) return new A2AError('CANCELED', 'The task has ended');
  if (run.isAsking)
    return new A2AError('UNSUPPORTED_OPERATION', 'ask() was called while another question is pending');
  if (waitUntil)
    return new A2AError('UNSUPPORTED_OPERATION', 'ask() cannot wait for an answer in this runtime', {
      hint: "The runtime ends the code of a request with its response. Yield status('input-required', …) and return; the answer calls process again.",
    });
  return undefined;
}
