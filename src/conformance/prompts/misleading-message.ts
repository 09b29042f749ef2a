import { InconclusiveError } from '../check-errors.ts';
import { partsToText } from '../drivers/normalized-views.ts';
import { restingStates } from '../observation/task-tracker.ts';
import type { IdentifiedTask, Probe } from '../probe.ts';
import type { TargetOutcome } from './prompt-catalog.ts';

/** Milliseconds, and round trips to the agent, for which a slow task works at least: on a slow machine time alone says nothing. */
const slowFrom = { milliseconds: 500, roundTrips: 5 };
/** Number of reads in which a slow task still works. */
const readCount = 3;

/**
 * Finds a message of the user that does not lead to its outcome, among those that a violated check has sent. The check
 * says nothing about the agent then.
 */
export async function findMisleadingMessage(probe: Probe): Promise<InconclusiveError | undefined> {
  for (const outcome of probe.prompts.sentByUser()) {
    const { text, messageId } = probe.prompts.promptFor(outcome);
    const reached = await reach(probe, outcome);
    if (reached === undefined || reached === outcome) continue;
    const fact = `The message "${text ?? messageId}" for "${outcome}" led to ${reached}.`;
    return new InconclusiveError(fact, { kind: 'prompt', outcome });
  }
  return undefined;
}

/** Sends the message for an outcome. @returns what it led to; undefined if the agent rejected it or did not answer */
async function reach(probe: Probe, outcome: TargetOutcome): Promise<string | undefined> {
  const startedAt = performance.now();
  const draft = probe.prompts.promptFor(outcome);
  const word = 'misleading-message';
  const message = outcome === 'echo' ? { ...draft, text: `${draft.text ?? ''} ${word}` } : draft;
  if (outcome === 'chunks') return reachChunks(probe);
  const response = await probe.call('send', {
    message,
    ...(outcome === 'slow' && { returnImmediately: true }),
  });
  if (response.error) return undefined;
  if (probe.driver.decodeMessage(response.result))
    return outcome === 'message' ? outcome : 'a direct message without a task';
  const task = probe.driver.decodeTask(response.result);
  if (task?.id === undefined) return undefined;
  const respondedAfter = performance.now() - startedAt;
  const isSlow = outcome === 'slow' && (await isSlowTask(probe, task.id, respondedAfter));
  const stopped = await probe.waitUntilTerminalOrInterrupted(task.id);
  const state = `the state "${stopped.state}"`;
  switch (outcome) {
    case 'slow':
      return stopped.state !== 'completed' ? state : isSlow ? outcome : `${state} at once`;
    case 'artifact':
      return stopped.state !== 'completed' ? state : textOf(stopped) === undefined ? 'no artifact' : outcome;
    case 'echo':
      return textOf(stopped)?.includes(word) === true
        ? outcome
        : 'a task that does not contain the sent text';
    default:
      return stopped.state === outcome ? outcome : state;
  }
}

/** Returns true if a task still works after several reads, or if the agent did not return immediately. */
async function isSlowTask(probe: Probe, id: string, respondedAfter: number): Promise<boolean> {
  let roundTrip = 0;
  let isWorking = true;
  for (let count = 0; isWorking && count < readCount; count++) {
    const startedAt = performance.now();
    isWorking = !restingStates.has((await probe.getTask(id)).state);
    roundTrip = Math.max(roundTrip, performance.now() - startedAt);
  }
  const { milliseconds, roundTrips } = slowFrom;
  return isWorking || respondedAfter >= Math.max(milliseconds, roundTrips * roundTrip);
}

async function reachChunks(probe: Probe): Promise<string> {
  const { events } = await probe.streamPrompt('chunks');
  return events.some(({ kind }) => kind === 'artifact') ? 'chunks' : 'a stream without artifacts';
}

function textOf({ artifacts = [] }: IdentifiedTask): string | undefined {
  return artifacts.length === 0 ? undefined : artifacts.map(({ parts }) => partsToText(parts)).join('');
}
