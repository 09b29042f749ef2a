import { setTimeout as pause } from 'node:timers/promises';

/** One version-neutral action of an agent. */
export type Deed =
  | { state: string; said?: string }
  | { chunk: string; append: boolean; last: boolean }
  | { echo: true }
  | { message: string }
  | { wait: number };

/** Returns the actions of an agent for a text; a follow-up continues a task. */
export type Plan = (text: string, isFollowUp: boolean) => Deed[] | Promise<Deed[]>;

/** Longer than any test: a task that waits so long is canceled or never over. */
export const untilCanceled: Deed = { wait: 2 ** 31 - 1 };

/** An artifact in one piece, and the end of its task. */
export const answer = (text: string): Deed[] => [
  { chunk: text, append: false, last: true },
  { state: 'completed' },
];

/** Emits actions in the format of one version. */
export interface Speaker {
  status(state: string, said?: string): void;
  chunk(said: string, append: boolean, last: boolean): void;
  echo(): void;
}

/** Does one deed after the other, until a signal says that the task was canceled. */
export async function play(deeds: readonly Deed[], signal: AbortSignal, speaker: Speaker): Promise<void> {
  for (const deed of deeds) {
    if (signal.aborted) break;
    if ('wait' in deed) await pause(deed.wait, undefined, { signal }).catch(() => undefined);
    else if ('state' in deed) speaker.status(deed.state, deed.said);
    else if ('chunk' in deed) speaker.chunk(deed.chunk, deed.append, deed.last);
    else if ('echo' in deed) speaker.echo();
  }
  if (signal.aborted) speaker.status('canceled');
}
