import type { ProcessContext } from '../../engine/process-context.ts';
import type { ArtifactDraft, AgentOutput } from '../../engine/agent-output.ts';
import type { Metadata } from '../../protocol/part.ts';
import { type Artifact, isInterrupted, isTerminal, type TaskStatus } from '../../protocol/task.ts';
import type { TestClock } from '../clock/test-clock.ts';
import { firstEventKind, type ResponsePlan, type ScriptedEvent } from '../agent/response-plan.ts';
import { withFinalMark, type EventAppearance, withAppearance } from './stream-shaper.ts';

/** What a player needs to know of the turn it plays in. */
export interface PlaybackTurn {
  /** True when there is no task yet, so that a message is the whole answer. */
  readonly isNew: boolean;
  /** The agent says nothing more and leaves the task as it is. */
  hangUp(): void;
  /** Everything was played. */
  done(): void;
}

/** Does what a plan says, inside the engine. */
export async function* playPlan(
  plan: ResponsePlan,
  context: ProcessContext,
  clock: TestClock,
  turn: PlaybackTurn,
): AsyncGenerator<AgentOutput, void> {
  const { signal, taskId, contextId } = context;
  try {
    // A task that waits for its first event can be seen and canceled meanwhile.
    if (turn.isNew && firstEventKind(plan.steps) !== 'message')
      yield { state: 'working', metadata: hidden() };
    let isFinal = false;
    for (const [index, step] of plan.steps.entries()) {
      if (step.kind === 'delay') {
        await clock.sleep(step.milliseconds, signal);
        continue;
      }
      const event = 'make' in step ? step.make({ taskId, contextId, now: clock.now() }) : step.event;
      isFinal = saysFinal(event);
      const isLast = index === plan.steps.length - 1;
      if (event.kind !== 'message') yield* outputsOf(event, isLast);
      // A task has no direct answer; what would be one is its last word, or one on the way.
      else if (isLast && !(turn.isNew && firstEventKind(plan.steps) === 'message'))
        yield { state: 'completed', message: event.message, metadata: withAppearance(undefined) };
      else yield event.message;
    }
    if (!isFinal && plan.ending === 'complete') return;
    if (isInterrupted(context.task.status.state)) return;
    turn.hangUp();
    await aborted(signal);
  } finally {
    turn.done();
  }
}

function hidden(): ReturnType<typeof withAppearance> {
  return withAppearance(undefined, { isHidden: true });
}

/** True when a stream ends with an event although the task goes on. */
function saysFinal(event: ScriptedEvent): boolean {
  return event.kind === 'status' && event.final === true && isOpen(event.status);
}

function isOpen({ state }: TaskStatus): boolean {
  return !isTerminal(state) && state !== 'input-required';
}

function* outputsOf(
  event: Exclude<ScriptedEvent, { kind: 'message' }>,
  isLast: boolean,
): Generator<AgentOutput> {
  if (event.kind === 'artifact') {
    const { artifact, append, lastChunk, metadata } = event;
    yield { artifact: draft(artifact), append, lastChunk, metadata: withAppearance(metadata) };
    return;
  }
  // Nobody follows a task that waits for credentials when nothing more is going to happen.
  const isEnd = isLast && event.status.state === 'auth-required';
  if (event.kind === 'task') {
    for (const artifact of event.artifacts ?? [])
      yield { artifact: draft(artifact), lastChunk: true, metadata: hidden() };
    yield statusOf(event.status, event.metadata, { isTask: true, isEnd });
    return;
  }
  const isFinal = saysFinal(event) || (isEnd && event.final !== false);
  yield statusOf(event.status, isFinal ? withFinalMark(event.metadata) : event.metadata, { isEnd });
}

function statusOf(
  { state, message }: TaskStatus,
  metadata: Metadata | undefined,
  look: EventAppearance,
): AgentOutput {
  // The engine takes no step back to the state before the work.
  const isSubmitted = state === 'submitted';
  return {
    state: isSubmitted ? 'working' : state,
    ...(message && { message }),
    metadata: withAppearance(metadata, isSubmitted ? { ...look, state } : look),
  };
}

/** An artifact whose id may be for the engine to make. */
function draft(artifact: Artifact): ArtifactDraft {
  return artifact.artifactId === '' ? { ...artifact, artifactId: undefined } : artifact;
}

/** Waits for the end of the task. */
function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
