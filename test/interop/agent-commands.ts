import { setTimeout as pause } from 'node:timers/promises';

/** One version-neutral action of an agent. */
export type AgentCommand =
  | { state: string; text?: string }
  | { chunk: string; append: boolean; last: boolean }
  | { echo: true }
  | { message: string }
  | { wait: number };

/** Returns the actions of an agent for a text; a follow-up continues a task. */
export type Plan = (text: string, isFollowUp: boolean) => AgentCommand[] | Promise<AgentCommand[]>;

/** Longer than any test: a task that waits so long is canceled or never over. */
export const untilCanceled: AgentCommand = { wait: 2 ** 31 - 1 };

/** An artifact in one piece, and the end of its task. */
export const answer = (text: string): AgentCommand[] => [
  { chunk: text, append: false, last: true },
  { state: 'completed' },
];

/** Emits actions in the format of one version. */
export interface Speaker {
  status(state: string, text?: string): void;
  chunk(text: string, append: boolean, last: boolean): void;
  echo(): void;
}

/** Does one deed after the other, until a signal says that the task was canceled. */
export async function play(
  commands: readonly AgentCommand[],
  signal: AbortSignal,
  speaker: Speaker,
): Promise<void> {
  for (const command of commands) {
    if (signal.aborted) break;
    if ('wait' in command) await pause(command.wait, undefined, { signal }).catch(() => undefined);
    else if ('state' in command) speaker.status(command.state, command.text);
    else if ('chunk' in command) speaker.chunk(command.chunk, command.append, command.last);
    else if ('echo' in command) speaker.echo();
  }
  if (signal.aborted) speaker.status('canceled');
}
