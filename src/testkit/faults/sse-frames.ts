import { isTerminal, type TaskState } from '../../protocol/task.ts';

/** Cuts the text of an event stream into frames, wherever it was cut on its way. */
export class FrameSplitter {
  #rest = '';

  /** The frames that are whole now, each with the empty line that ends it. */
  push(text: string): string[] {
    const pieces = (this.#rest + text).split('\n\n');
    this.#rest = pieces.pop() ?? '';
    return pieces.map((piece) => `${piece}\n\n`);
  }
}

/** True when a frame is an event, and no comment. */
export function isEventFrame(frame: string): boolean {
  return dataOf(frame) !== '';
}

/** True when a task is over with an event, in whatever version and binding it is told. */
export function isTerminalEvent(frame: string): boolean {
  const data = dataOf(frame);
  if (data === '') return false;
  const { result = JSON.parse(data) } = JSON.parse(data) as Wire;
  const { status = (result.statusUpdate ?? result.task)?.status } = result;
  const state = status?.state?.toLowerCase().replace('task_state_', '').replace('cancelled', 'canceled');
  return state !== undefined && isTerminal(state as TaskState);
}

interface Told {
  readonly status?: { readonly state?: string };
}

interface Wire {
  readonly result?: Told & { readonly statusUpdate?: Told; readonly task?: Told };
}

function dataOf(frame: string): string {
  const lines = frame.split('\n').filter((line) => line.startsWith('data:'));
  return lines.map((line) => line.slice('data:'.length)).join('\n');
}
