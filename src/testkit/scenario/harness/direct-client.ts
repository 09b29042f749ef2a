import { isFinalStatus } from '../../../dialects/v0_3/event.ts';
import { v0_3 } from '../../../dialects/v0_3/index.ts';
import type { Agent } from '../../../protocol/agent.ts';
import { A2AError } from '../../../protocol/errors.ts';
import type { StreamEvent } from '../../../protocol/event.ts';
import type { Message } from '../../../protocol/message.ts';
import { startReducer, type TaskReducer } from '../../../protocol/reduce.ts';
import { isInterrupted, isTask, isTerminal, type Task } from '../../../protocol/task.ts';
import { downloadLinkedParts } from './case-files.ts';
import { buildScenarioMessage, partsToSend } from './build-message.ts';
import type { Scenario } from '../files/read-scenarios.ts';
import type { CaseFiles } from './harness-types.ts';
import type { CaseTimeline } from './case-timeline.ts';

/** What sends what a case sends. */
export interface ScenarioClient {
  /** Sends, and waits for the end. */
  drive(): Promise<void>;
  /** Asks for an end to the task. */
  cancel(): Promise<void>;
}

/** Calls an agent as any client does, and tells what comes in the words of a gateway. */
export class DirectScenarioClient implements ScenarioClient {
  readonly #agent: Agent;
  readonly #scenario: Scenario;
  readonly #timeline: CaseTimeline;
  readonly #files: CaseFiles;
  readonly #stop = new AbortController();
  #fold: TaskReducer | undefined;
  /** Resolves with the id of the task, once somebody knows it. */
  readonly #named: Promise<string>;
  #name: (id: string) => void = () => {};

  constructor(agent: Agent, parts: { scenario: Scenario; timeline: CaseTimeline; files: CaseFiles }) {
    this.#agent = agent;
    this.#scenario = parts.scenario;
    this.#timeline = parts.timeline;
    this.#files = parts.files;
    this.#named = new Promise((resolve) => {
      this.#name = resolve;
    });
  }

  async drive(): Promise<void> {
    const request = { message: buildScenarioMessage(this.#scenario, partsToSend(this.#scenario)) };
    const call = { signal: this.#stop.signal, owner: this.#scenario.user };
    void this.#timeline.over.then(() => this.#stop.abort());
    try {
      if (this.#scenario.spec.gateway_input?.is_streaming === false) {
        const answer = await this.#agent.send(request, call);
        await this.#finish(isTask(answer) ? answer : wrapped(answer, this.#scenario));
        return;
      }
      for await (const event of this.#agent.stream(request, call)) {
        await this.#take(event);
        if (this.#timeline.isOver) return;
      }
      await this.#hangUp();
    } catch (thrown) {
      if (!this.#timeline.isOver)
        this.#timeline.add({ type: 'error', ...v0_3.rpcError.write(A2AError.from(thrown)) });
    }
  }

  async cancel(): Promise<void> {
    const id = await Promise.race([this.#named, this.#timeline.over]);
    if (id !== undefined) await this.#agent.cancelTask({ id }, { owner: this.#scenario.user });
  }

  /** Tasks on the way are no news, and neither are updates that say nothing. */
  async #take(event: StreamEvent): Promise<void> {
    if (event.kind === 'message') {
      await this.#finish(wrapped(event.message, this.#scenario));
      return;
    }
    this.#fold ??= startReducer(event);
    this.#fold?.apply(event);
    this.#name(this.#fold?.id ?? '');
    if (event.kind === 'task') {
      if (isTerminal(event.task.status.state)) await this.#finish(event.task);
    } else if (event.kind === 'artifact') {
      const { artifact } = event;
      const parts = await downloadLinkedParts(artifact.parts, this.#files);
      this.#timeline.add({
        type: 'artifact_update',
        artifact: { ...artifact, parts },
        received: artifact.parts,
      });
    } else {
      const isLast = isFinalStatus(event);
      const { status, metadata } = event;
      if (isLast || (status.message?.parts.length ?? 0) > 0)
        this.#timeline.add({
          type: 'status_update',
          status,
          isFinal: isLast,
          ...(metadata ? { metadata } : {}),
        });
      if (isLast && this.#fold) await this.#finish(this.#fold.task());
    }
  }

  /** The stream is over and nobody said how the task ended. */
  async #hangUp(): Promise<void> {
    const task = this.#fold?.task();
    if (task && (isTerminal(task.status.state) || isInterrupted(task.status.state))) await this.#finish(task);
    else throw new A2AError('UNAVAILABLE', 'The agent disconnected without completing the task');
  }

  async #finish(task: Task): Promise<void> {
    const artifacts = await Promise.all(
      (task.artifacts ?? []).map(async (each) => ({
        ...each,
        parts: await downloadLinkedParts(each.parts, this.#files),
      })),
    );
    this.#timeline.add({
      type: 'final_response',
      task: artifacts.length > 0 ? { ...task, artifacts } : task,
    });
  }
}

/** A direct answer as a task, which is all that a gateway knows. */
function wrapped(message: Message, { session }: Scenario): Task {
  return {
    id: message.messageId,
    contextId: message.contextId ?? session,
    status: { state: 'completed', message },
  };
}
