import { isFinalStatus } from '../../../dialects/v0_3/event.ts';
import { v0_3 } from '../../../dialects/v0_3/index.ts';
import type { Agent } from '../../../protocol/agent.ts';
import { A2AError } from '../../../protocol/errors.ts';
import type { StreamEvent } from '../../../protocol/event.ts';
import type { Message } from '../../../protocol/message.ts';
import { startReducer, type TaskReducer } from '../../../protocol/reduce.ts';
import { isTask, isTerminal, isTerminalOrInterrupted, type Task } from '../../../protocol/task.ts';
import { downloadLinkedParts } from './case-files.ts';
import { buildScenarioMessage, partsToSend } from './build-message.ts';
import type { Scenario } from '../files/read-scenarios.ts';
import type { CaseFiles } from './harness-types.ts';
import type { CaseTimeline } from './case-timeline.ts';

/** Sends the request of a case. */
export interface ScenarioClient {
  /** Sends the request and waits for the end of the case. */
  run(): Promise<void>;
  /** Sends a cancel request for the task. */
  cancel(): Promise<void>;
}

/** Calls an agent and records its events as gateway events. */
export class DirectScenarioClient implements ScenarioClient {
  readonly #agent: Agent;
  readonly #scenario: Scenario;
  readonly #timeline: CaseTimeline;
  readonly #files: CaseFiles;
  readonly #abort = new AbortController();
  #reducer: TaskReducer | undefined;
  /** Resolves with the id of the task when it is known. */
  readonly #taskId: Promise<string>;
  #resolveTaskId: (id: string) => void = () => {};

  constructor(agent: Agent, parts: { scenario: Scenario; timeline: CaseTimeline; files: CaseFiles }) {
    this.#agent = agent;
    this.#scenario = parts.scenario;
    this.#timeline = parts.timeline;
    this.#files = parts.files;
    this.#taskId = new Promise((resolve) => {
      this.#resolveTaskId = resolve;
    });
  }

  async run(): Promise<void> {
    const request = { message: buildScenarioMessage(this.#scenario, partsToSend(this.#scenario)) };
    const call = { signal: this.#abort.signal, owner: this.#scenario.user };
    void this.#timeline.ended.then(() => this.#abort.abort());
    try {
      if (this.#scenario.spec.gateway_input?.is_streaming === false) {
        const result = await this.#agent.send(request, call);
        await this.#finish(isTask(result) ? result : toTask(result, this.#scenario));
        return;
      }
      for await (const event of this.#agent.stream(request, call)) {
        await this.#receive(event);
        if (this.#timeline.isEnded) return;
      }
      await this.#endStream();
    } catch (thrown) {
      if (!this.#timeline.isEnded)
        this.#timeline.add({ type: 'error', ...v0_3.rpcError.write(A2AError.from(thrown)) });
    }
  }

  async cancel(): Promise<void> {
    const id = await Promise.race([this.#taskId, this.#timeline.ended]);
    if (id !== undefined) await this.#agent.cancelTask({ id }, { owner: this.#scenario.user });
  }

  /** Gateways do not forward intermediate tasks and status updates without parts. */
  async #receive(event: StreamEvent): Promise<void> {
    if (event.kind === 'message') {
      await this.#finish(toTask(event.message, this.#scenario));
      return;
    }
    this.#reducer ??= startReducer(event);
    this.#reducer?.apply(event);
    this.#resolveTaskId(this.#reducer?.id ?? '');
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
      const isFinal = isFinalStatus(event);
      const { status, metadata } = event;
      if (isFinal || (status.message?.parts.length ?? 0) > 0)
        this.#timeline.add({
          type: 'status_update',
          status,
          isFinal,
          ...(metadata ? { metadata } : {}),
        });
      if (isFinal && this.#reducer) await this.#finish(this.#reducer.task());
    }
  }

  /** Handles a stream that ended without a final event. */
  async #endStream(): Promise<void> {
    const task = this.#reducer?.task();
    if (task && isTerminalOrInterrupted(task.status.state)) await this.#finish(task);
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

/** Wraps a direct message in a task, because gateways return only tasks. */
function toTask(message: Message, { session }: Scenario): Task {
  return {
    id: message.messageId,
    contextId: message.contextId ?? session,
    status: { state: 'completed', message },
  };
}
