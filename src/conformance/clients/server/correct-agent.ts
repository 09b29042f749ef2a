import type { JsonObject } from '../../../primitives/json.ts';
import { objectOf } from '../../drivers/normalized-views.ts';
import type { ReceivedCall } from './received-request.ts';
import type { Reply } from './reply.ts';
import { type TaskContent, type WireContent, wireFormat } from './wire-content.ts';

/** The values of one run that replies contain. */
export interface RunValues {
  readonly contextId: string;
  /** Id of the task that a new message creates. */
  readonly newTaskId: string;
  /** Text of the artifact of every completed task. */
  readonly answer: string;
}

/** An agent that follows the specification. The replies of tests are made from its replies. */
export class CorrectAgent {
  readonly #values: RunValues;

  constructor(values: RunValues) {
    this.#values = values;
  }

  /** Returns the task of a call in the given state. */
  task(call: ReceivedCall, state: string, more: Partial<TaskContent> = {}): TaskContent {
    const { newTaskId, contextId, answer } = this.#values;
    const id = call.message ? (call.message.taskId ?? newTaskId) : (call.taskId ?? newTaskId);
    return {
      id,
      contextId: call.message?.contextId ?? contextId,
      state,
      ...(state === 'completed' ? { answer } : {}),
      ...more,
    };
  }

  /** Returns the events of a task that is executed completely. */
  events(call: ReceivedCall): WireContent[] {
    const { answer } = this.#values;
    const completed = this.task(call, 'completed');
    return [
      ...(call.version === '0.1' ? [] : [{ kind: 'task', task: this.task(call, 'submitted') } as const]),
      { kind: 'status', task: this.task(call, 'working') },
      { kind: 'artifact', task: completed, text: answer },
      { kind: 'status', task: completed },
    ];
  }

  /** Returns the reply to a call. */
  reply(call: ReceivedCall, extendedCard: JsonObject): Reply {
    const { version, transport, operation, params } = call;
    switch (operation) {
      case 'send':
        return { kind: 'content', content: { kind: 'task', task: this.task(call, 'completed') } };
      case 'stream':
        return { kind: 'stream', events: this.events(call) };
      case 'subscribe':
        return { kind: 'stream', events: this.#subscription(call) };
      case 'get':
        return this.taskReply(call, 'completed');
      case 'cancel':
        return this.taskReply(call, 'canceled');
      case 'list': {
        const task = wireFormat(version, transport).task(
          this.task(call, 'completed', { id: 'task-in-list' }),
        );
        return { kind: 'result', result: { tasks: [task], nextPageToken: '', pageSize: 50, totalSize: 1 } };
      }
      case 'createPush':
        return { kind: 'result', result: storedConfig(call) };
      case 'getPush':
        return { kind: 'result', result: params };
      case 'listPush':
        return {
          kind: 'result',
          result: version === '0.3' && transport === 'JSONRPC' ? [] : { configs: [] },
        };
      case 'deletePush':
        return { kind: 'result', result: {} };
      case 'extendedCard':
        return { kind: 'result', result: extendedCardOf(call, extendedCard) };
    }
  }

  /** Returns the reply to `get` and `cancel` with a task in the given state. */
  taskReply(call: ReceivedCall, state: string): Reply {
    const { version, transport } = call;
    return { kind: 'result', result: wireFormat(version, transport).task(this.task(call, state)) };
  }

  #subscription(call: ReceivedCall): WireContent[] {
    const [, ...updates] = this.events(call);
    return call.version === '0.1'
      ? this.events(call)
      : [{ kind: 'task', task: this.task(call, 'working') }, ...updates.slice(1)];
  }
}

/** REST and gRPC of 0.3 write security schemes in another form, which this agent leaves out. */
function extendedCardOf({ version, transport }: ReceivedCall, card: JsonObject): JsonObject {
  if (version !== '0.3' || transport === 'JSONRPC') return card;
  const { securitySchemes: _schemes, security: _security, ...rest } = card;
  return rest;
}

/** Returns the configuration as the agent stores it. REST has the id of the task in the path. */
function storedConfig({ version, transport, params, taskId }: ReceivedCall): JsonObject {
  if (version === '0.3' && transport !== 'JSONRPC') return objectOf(params.config ?? params);
  return version === '1.0' ? { id: 'config-1', taskId, ...params } : params;
}
