import { isTerminal, type TaskState } from '../../protocol/task.ts';

/** Splits SSE text into frames, independent of chunk boundaries. */
export class FrameSplitter {
  #incomplete = '';

  /** Returns the completed frames, each with its terminating empty line. */
  push(text: string): string[] {
    const pieces = (this.#incomplete + text).split('\n\n');
    this.#incomplete = pieces.pop() ?? '';
    return pieces.map((piece) => `${piece}\n\n`);
  }
}

/** Returns true if a frame is an event, not a comment. */
export function isEventFrame(frame: string): boolean {
  return frameData(frame) !== '';
}

/** Returns true if an event has a terminal state, in any protocol version and transport. */
export function isTerminalEvent(frame: string): boolean {
  const data = frameData(frame);
  return data !== '' && isTerminalValue(JSON.parse(data));
}

/** Like {@link isTerminalEvent}, for the parsed data of an event. */
export function isTerminalValue(data: unknown): boolean {
  const { result = data as NonNullable<WireEvent['result']> } = data as WireEvent;
  const { status = (result.statusUpdate ?? result.task)?.status } = result;
  const state = status?.state?.toLowerCase().replace('task_state_', '').replace('cancelled', 'canceled');
  return state !== undefined && isTerminal(state as TaskState);
}

interface StatusHolder {
  readonly status?: { readonly state?: string };
}

interface WireEvent {
  readonly result?: StatusHolder & { readonly statusUpdate?: StatusHolder; readonly task?: StatusHolder };
}

function frameData(frame: string): string {
  const lines = frame.split('\n').filter((line) => line.startsWith('data:'));
  return lines.map((line) => line.slice('data:'.length)).join('\n');
}
