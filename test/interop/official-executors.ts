/**
 * Executes plans with the official SDKs: events with a kind before 1.0, wrapped ones since.
 */
import { TaskState } from 'sdk-1.3';
import * as sdk13 from 'sdk-1.3/server';
import { type Plan, play } from './agent-commands.ts';
import { text as textPart } from './sdk-1.3-messages.ts';

const time = (): string => new Date().toISOString();
const ends = new Set(['completed', 'failed', 'canceled', 'rejected', 'input-required', 'auth-required']);

/** An agent for the SDKs whose events have a kind. */
export class TaggedExecutor {
  readonly #plan: Plan;
  readonly #working = new Map<string, AbortController>();
  readonly #contexts = new Map<string, string>();

  constructor(plan: Plan) {
    this.#plan = plan;
  }

  async execute({ userMessage, taskId, contextId, task }: any, bus: any): Promise<void> {
    const message = (content: string) => ({
      kind: 'message',
      role: 'agent',
      messageId: crypto.randomUUID(),
      taskId,
      contextId,
      parts: [{ kind: 'text', text: content }],
    });
    const text = userMessage.parts.map((part: any) => part.text ?? '').join('');
    const commands = await this.#plan(text, task !== undefined);
    if (commands[0] && 'message' in commands[0]) {
      const { taskId: _none, ...direct } = message(commands[0].message);
      bus.publish(direct);
      bus.finished();
      return;
    }
    if (!task)
      bus.publish({
        kind: 'task',
        id: taskId,
        contextId,
        status: { state: 'submitted', timestamp: time() },
        history: [userMessage],
        artifacts: [],
      });
    const artifact = (parts: unknown[], append: boolean, lastChunk: boolean): void =>
      bus.publish({
        kind: 'artifact-update',
        taskId,
        contextId,
        append,
        lastChunk,
        artifact: { artifactId: 'answer', name: 'answer', parts },
      });
    const stop = new AbortController();
    this.#working.set(taskId, stop);
    this.#contexts.set(taskId, contextId);
    await play(commands, stop.signal, {
      status: (state, content) =>
        bus.publish({
          kind: 'status-update',
          taskId,
          contextId,
          final: ends.has(state),
          status: {
            state,
            timestamp: time(),
            ...(content === undefined ? {} : { message: message(content) }),
          },
        }),
      chunk: (content, append, last) => artifact([{ kind: 'text', text: content }], append, last),
      echo: () => artifact(userMessage.parts, false, true),
    });
    this.#working.delete(taskId);
    bus.finished();
  }

  async cancelTask(taskId: string, bus: any): Promise<void> {
    const working = this.#working.get(taskId);
    if (working) working.abort();
    else
      bus?.publish?.({
        kind: 'status-update',
        taskId,
        contextId: this.#contexts.get(taskId),
        final: true,
        status: { state: 'canceled', timestamp: time() },
      });
  }
}

const { AgentEvent } = sdk13 as any;
const part = (text: string) => ({
  ...textPart(text),
  metadata: undefined,
  filename: '',
  mediaType: 'text/plain',
});

/** An agent for the SDK of 1.0. */
export class WrappedExecutor {
  readonly #plan: Plan;
  readonly #working = new Map<string, AbortController>();
  readonly #contexts = new Map<string, string>();

  constructor(plan: Plan) {
    this.#plan = plan;
  }

  async execute({ userMessage, taskId, contextId, task }: any, bus: any): Promise<void> {
    const message = (content: string) => ({
      messageId: crypto.randomUUID(),
      contextId,
      taskId,
      role: 2,
      parts: [part(content)],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    });
    const text = userMessage.parts
      .map((each: any) => (each.content?.$case === 'text' ? each.content.value : ''))
      .join('');
    const commands = await this.#plan(text, task !== undefined);
    if (commands[0] && 'message' in commands[0]) {
      bus.publish(AgentEvent.message({ ...message(commands[0].message), taskId: '' }));
      return;
    }
    const submitted = { state: TaskState.TASK_STATE_SUBMITTED, timestamp: time(), message: undefined };
    const begun = { status: submitted, artifacts: [], history: [userMessage], metadata: undefined };
    bus.publish(AgentEvent.task(task ?? { id: taskId, contextId, ...begun }));
    const artifact = (parts: unknown[], append: boolean, lastChunk: boolean): void =>
      bus.publish(
        AgentEvent.artifactUpdate({
          taskId,
          contextId,
          append,
          lastChunk,
          metadata: undefined,
          artifact: {
            artifactId: 'answer',
            name: 'answer',
            description: '',
            metadata: undefined,
            extensions: [],
            parts,
          },
        }),
      );
    const stop = new AbortController();
    this.#working.set(taskId, stop);
    this.#contexts.set(taskId, contextId);
    await play(commands, stop.signal, {
      status: (state, content) =>
        bus.publish(
          AgentEvent.statusUpdate({
            taskId,
            contextId,
            metadata: undefined,
            status: {
              state: (TaskState as any)[`TASK_STATE_${state.toUpperCase().replace('-', '_')}`],
              timestamp: time(),
              message: content === undefined ? undefined : message(content),
            },
          }),
        ),
      chunk: (content, append, last) => artifact([part(content)], append, last),
      echo: () => artifact(userMessage.parts, false, true),
    });
    this.#working.delete(taskId);
  }

  async cancelTask(taskId: string, bus: any): Promise<void> {
    const working = this.#working.get(taskId);
    if (working) working.abort();
    else
      bus.publish(
        AgentEvent.statusUpdate({
          taskId,
          contextId: this.#contexts.get(taskId) ?? '',
          metadata: undefined,
          status: { state: TaskState.TASK_STATE_CANCELED, timestamp: time(), message: undefined },
        }),
      );
  }
}
