import type { ProcessContext } from '../../engine/process-context.ts';
import type { ArtifactDraft, AgentOutput } from '../../engine/agent-output.ts';
import type { Metadata } from '../../protocol/part.ts';
import { type Artifact, isInterrupted, isTerminal, type TaskStatus } from '../../protocol/task.ts';
import type { TestClock } from '../clock/test-clock.ts';
import { firstEventKind, type ResponsePlan, type ScriptedEvent } from '../agent/response-plan.ts';
import { withFinalMark, type EventAppearance, withAppearance } from './stream-shaper.ts';

/** The turn in which a plan is played. */
export interface PlaybackTurn {
  /** True if the message starts a task, so that a message event can be a direct response. */
  readonly isNew: boolean;
  /** Called when the plan ends and the task stays in its state. */
  abandon(): void;
  /** Called when the turn ends in any way. */
  done(): void;
}

/** Process function that plays a response plan. */
export async function* playPlan(
  plan: ResponsePlan,
  context: ProcessContext,
  clock: TestClock,
  turn: PlaybackTurn,
): AsyncGenerator<AgentOutput, void> {
  const { signal, taskId, contextId } = context;
  try {
    // Creates the task at once, so that it can be read and canceled before its first scripted event.
    if (turn.isNew && firstEventKind(plan.steps) !== 'message')
      yield { state: 'working', metadata: hiddenMetadata() };
    let isFinal = false;
    for (const [index, step] of plan.steps.entries()) {
      if (step.kind === 'delay') {
        await clock.sleep(step.milliseconds, signal);
        continue;
      }
      const event = 'create' in step ? step.create({ taskId, contextId, now: clock.now() }) : step.event;
      isFinal = endsStreamOnly(event);
      const isLast = index === plan.steps.length - 1;
      if (event.kind !== 'message') yield* toOutputs(event, isLast);
      // A task has no direct response: a message event becomes its final or an intermediate status message.
      else if (isLast && !(turn.isNew && firstEventKind(plan.steps) === 'message'))
        yield { state: 'completed', message: event.message, metadata: withAppearance(undefined) };
      else yield event.message;
    }
    if (!isFinal && plan.ending === 'complete') return;
    if (isInterrupted(context.task.status.state)) return;
    turn.abandon();
    await waitForAbort(signal);
  } finally {
    turn.done();
  }
}

function hiddenMetadata(): ReturnType<typeof withAppearance> {
  return withAppearance(undefined, { isHidden: true });
}

/** Returns true if an event ends the stream while the task continues. */
function endsStreamOnly(event: ScriptedEvent): boolean {
  if (event.kind !== 'status' || event.final !== true) return false;
  const { state } = event.status;
  return !isTerminal(state) && state !== 'input-required';
}

function* toOutputs(
  event: Exclude<ScriptedEvent, { kind: 'message' }>,
  isLast: boolean,
): Generator<AgentOutput> {
  if (event.kind === 'artifact') {
    const { artifact, append, lastChunk, metadata } = event;
    yield { artifact: toArtifactDraft(artifact), append, lastChunk, metadata: withAppearance(metadata) };
    return;
  }
  // The last event of a plan ends the stream of an auth-required task, because no more events follow.
  const endsStream = isLast && event.status.state === 'auth-required';
  if (event.kind === 'task') {
    for (const artifact of event.artifacts ?? [])
      yield { artifact: toArtifactDraft(artifact), lastChunk: true, metadata: hiddenMetadata() };
    yield toStatusOutput(event.status, event.metadata, { isTask: true, endsStream });
    return;
  }
  const isFinal = endsStreamOnly(event) || (endsStream && event.final !== false);
  yield toStatusOutput(event.status, isFinal ? withFinalMark(event.metadata) : event.metadata, {
    endsStream,
  });
}

function toStatusOutput(
  { state, message }: TaskStatus,
  metadata: Metadata | undefined,
  appearance: EventAppearance,
): AgentOutput {
  // The engine does not allow a transition back to submitted.
  const isSubmitted = state === 'submitted';
  return {
    state: isSubmitted ? 'working' : state,
    ...(message && { message }),
    metadata: withAppearance(metadata, isSubmitted ? { ...appearance, state } : appearance),
  };
}

/** Removes an empty artifact id, so that the engine generates one. */
function toArtifactDraft(artifact: Artifact): ArtifactDraft {
  return artifact.artifactId === '' ? { ...artifact, artifactId: undefined } : artifact;
}

function waitForAbort(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
