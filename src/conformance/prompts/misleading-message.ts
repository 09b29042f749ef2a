import { InconclusiveError } from '../check-errors.ts';
import { partsToText } from '../drivers/normalized-views.ts';
import { restingStates } from '../observation/task-tracker.ts';
import type { IdentifiedTask, Probe } from '../probe.ts';
import type { TargetOutcome } from './prompt-catalog.ts';

/** Milliseconds for which a slow task works at least. */
const slowFrom = 500;

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
  const isWorking =
    !restingStates.has(task.state) && !restingStates.has((await probe.getTask(task.id)).state);
  // An agent that does not return immediately is slow as well, and so may be the way to it.
  const isSlow = isWorking || performance.now() - startedAt >= slowFrom;
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

async function reachChunks(probe: Probe): Promise<string> {
  const { events } = await probe.streamPrompt('chunks');
  return events.some(({ kind }) => kind === 'artifact') ? 'chunks' : 'a stream without artifacts';
}

function textOf({ artifacts = [] }: IdentifiedTask): string | undefined {
  return artifacts.length === 0 ? undefined : artifacts.map(({ parts }) => partsToText(parts)).join('');
}
