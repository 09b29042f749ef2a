import { isTerminalOrInterrupted } from '../../protocol/task.ts';
import type { ScriptedEvent } from '../agent/response-plan.ts';

/** Returns true for the last event of a turn: a terminal or interrupted state, `final: true`, or a direct message. */
export function endsTurn(event: ScriptedEvent): boolean {
  if (event.kind === 'message') return true;
  if (event.kind === 'artifact') return false;
  const { state } = event.status;
  return isTerminalOrInterrupted(state) || (event.kind === 'status' && event.final === true);
}
