import { isInterrupted, isTerminal } from '../../protocol/task.ts';
import type { ScriptedEvent } from '../agent/response-plan.ts';

/** True for an event after which nothing is played: the task ends, waits for its caller, or was answered directly. */
export function endsTurn(event: ScriptedEvent): boolean {
  if (event.kind === 'message') return true;
  if (event.kind === 'artifact') return false;
  const { state } = event.status;
  return isTerminal(state) || isInterrupted(state) || (event.kind === 'status' && event.final === true);
}
