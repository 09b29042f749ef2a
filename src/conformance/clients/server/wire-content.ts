import type { JsonObject } from '../../../primitives/json.ts';
import type { CheckedTransport, CheckedVersion } from '../../rule-model.ts';
import { withoutUndefined } from '../../drivers/normalized-views.ts';

/** A task in a response, independent of the version. */
export interface TaskContent {
  readonly id: string;
  readonly contextId: string;
  /** Short name, such as `completed`. */
  readonly state: string;
  /** Text of the status message. */
  readonly statusText?: string;
  readonly timestamp?: string;
  /** Text of the only artifact. */
  readonly answer?: string;
}

/** The result of an operation or an event of a stream, independent of the version. */
export type WireContent =
  | { readonly kind: 'task'; readonly task: TaskContent }
  | { readonly kind: 'message'; readonly text: string; readonly contextId: string }
  | { readonly kind: 'status'; readonly task: TaskContent }
  | {
      readonly kind: 'artifact';
      readonly task: TaskContent;
      readonly text: string;
      readonly append?: boolean;
    };

/** Encodes content in the format of a version. */
export interface WireFormat {
  /** A task as the result of `get` and `cancel`. */
  task(task: TaskContent): JsonObject;
  /** The result of `send`. */
  result(content: WireContent): JsonObject;
  /** An event of a stream. */
  event(content: WireContent): JsonObject;
}

const defaultTimestamp = '2026-01-02T03:04:05.678Z';
const finalStates: ReadonlySet<string> = new Set([
  'completed',
  'failed',
  'canceled',
  'rejected',
  'input-required',
]);

/** Names and forms in which the formats of 1.0 and 0.3 differ. */
interface FormatStyle {
  state(name: string): string;
  readonly agentRole: string;
  /** Member of a message with its parts. */
  readonly messageParts: string;
  part(text: string): JsonObject;
  /** Added to an object of this kind. */
  kind(name: string): JsonObject;
  /** True if an event is a member of an object that names its kind. */
  readonly isWrapped: boolean;
  readonly hasFinal: boolean;
}

const protoState = (name: string): string => `TASK_STATE_${name.toUpperCase().replaceAll('-', '_')}`;

const style1_0: FormatStyle = {
  state: protoState,
  agentRole: 'ROLE_AGENT',
  messageParts: 'parts',
  part: (text) => ({ text }),
  kind: () => ({}),
  isWrapped: true,
  hasFinal: false,
};

const style0_3: FormatStyle = {
  state: (name) => name,
  agentRole: 'agent',
  messageParts: 'parts',
  part: (text) => ({ kind: 'text', text }),
  kind: (kind) => ({ kind }),
  isWrapped: false,
  hasFinal: true,
};

/** REST and gRPC of 0.3 have the format of its protocol buffers. */
const style0_3Proto: FormatStyle = {
  ...style1_0,
  state: (name) => (name === 'canceled' ? 'TASK_STATE_CANCELLED' : protoState(name)),
  messageParts: 'content',
  hasFinal: true,
};

function createFormat(style: FormatStyle): WireFormat {
  const message = (text: string, contextId: string, taskId?: string): JsonObject => ({
    ...style.kind('message'),
    ...withoutUndefined({ messageId: crypto.randomUUID(), contextId, taskId }),
    role: style.agentRole,
    [style.messageParts]: [style.part(text)],
  });
  const status = ({
    id,
    contextId,
    state,
    statusText,
    timestamp = defaultTimestamp,
  }: TaskContent): JsonObject => ({
    state: style.state(state),
    timestamp,
    ...(statusText === undefined ? {} : { message: message(statusText, contextId, id) }),
  });
  const artifact = (text: string): JsonObject => ({
    artifactId: 'answer',
    name: 'answer',
    parts: [style.part(text)],
  });
  const task = (content: TaskContent): JsonObject => ({
    ...style.kind('task'),
    id: content.id,
    contextId: content.contextId,
    status: status(content),
    ...(content.answer === undefined ? {} : { artifacts: [artifact(content.answer)] }),
  });
  const wrap = (name: string, value: JsonObject): JsonObject => (style.isWrapped ? { [name]: value } : value);
  const event = (content: WireContent): JsonObject => {
    switch (content.kind) {
      case 'task':
        return wrap('task', task(content.task));
      case 'message':
        return wrap('message', message(content.text, content.contextId));
      case 'status': {
        const { id: taskId, contextId, state } = content.task;
        return wrap('statusUpdate', {
          ...style.kind('status-update'),
          taskId,
          contextId,
          status: status(content.task),
          ...(style.hasFinal ? { final: finalStates.has(state) } : {}),
        });
      }
      case 'artifact': {
        const { id: taskId, contextId } = content.task;
        return wrap('artifactUpdate', {
          ...style.kind('artifact-update'),
          taskId,
          contextId,
          artifact: artifact(content.text),
          append: content.append ?? false,
          lastChunk: false,
        });
      }
    }
  };
  return { task, result: event, event };
}

const format0_1: WireFormat = {
  task: task0_1,
  result: (content) => (content.kind === 'message' ? {} : task0_1(content.task)),
  event(content) {
    if (content.kind === 'message') return {};
    const { id, state } = content.task;
    if (content.kind === 'artifact')
      return {
        id,
        artifact: {
          parts: [{ type: 'text', text: content.text }],
          index: 0,
          append: content.append ?? false,
        },
      };
    return { id, status: task0_1(content.task).status, final: finalStates.has(state) };
  },
};

function task0_1({
  id,
  contextId,
  state,
  statusText,
  timestamp = defaultTimestamp,
  answer,
}: TaskContent): JsonObject {
  const message = (text: string): JsonObject => ({ role: 'agent', parts: [{ type: 'text', text }] });
  return {
    id,
    sessionId: contextId,
    status: { state, timestamp, ...(statusText === undefined ? {} : { message: message(statusText) }) },
    ...(answer === undefined ? {} : { artifacts: [{ parts: [{ type: 'text', text: answer }], index: 0 }] }),
  };
}

const format1_0 = createFormat(style1_0);
const format0_3 = createFormat(style0_3);
const format0_3Proto = createFormat(style0_3Proto);

/** Returns the format of a version over a transport. */
export function wireFormat(version: CheckedVersion, transport: CheckedTransport): WireFormat {
  if (version === '1.0') return format1_0;
  if (version === '0.1') return format0_1;
  return transport === 'JSONRPC' ? format0_3 : format0_3Proto;
}
