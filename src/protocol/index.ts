/**
 * Version-neutral model of A2A: agents, cards, messages, tasks, events, errors, and the reduction of events to tasks.
 * Imports only primitives and runs in browsers.
 *
 * @module
 */
export type { Agent, CallContext, Operation, Principal } from './agent.ts';
export { bindAgent } from './composition/bind-agent.ts';
export {
  type AgentInterceptor,
  type OperationResult,
  withInterceptor,
} from './composition/with-interceptor.ts';
export type {
  AgentCapabilities,
  AgentCard,
  AgentCardSignature,
  AgentExtension,
  AgentInterface,
  AgentSkill,
  OAuthFlow,
  OAuthFlowName,
  SecurityRequirement,
  SecurityScheme,
  ProtocolVersion,
} from './card.ts';
export {
  A2AError,
  type A2AErrorOptions,
  errorTable,
  type FieldViolation,
  invalidField,
  type ErrorReason,
  taskNotFound,
} from './errors.ts';
export type {
  TaskArtifactUpdateEvent,
  DirectMessageEvent,
  TaskStatusUpdateEvent,
  StreamEvent,
  TaskSnapshotEvent,
} from './event.ts';
export { type LintFinding, lintStream, type LintRule, StreamLinter } from './lint-stream.ts';
export type { LogSink, LogEntry } from '../primitives/log.ts';
export type { Message, Role } from './message.ts';
export type { Outage } from './outage.ts';
export {
  bytesOf,
  contentKind,
  type DataPart,
  type Metadata,
  type Part,
  type PartContent,
  rawPart,
  type RawPart,
  type TextPart,
  textOf,
  type UrlPart,
} from './part.ts';
export type { PushAuthentication, PushConfig } from './push.ts';
export {
  type FileInput,
  type MessageInput,
  type SendInput,
  toSendRequest,
  userMessage,
} from './user-message.ts';
export { startReducer, type UserMessageEvent, reduce, type TaskChange, TaskReducer } from './reduce.ts';
export type {
  CancelTaskRequest,
  GetTaskRequest,
  ListPushConfigsRequest,
  ListTasksRequest,
  PushConfigPage,
  PushConfigRef,
  SendConfiguration,
  SendRequest,
  SubscribeRequest,
  TaskPage,
} from './requests.ts';
export {
  type Artifact,
  isInterrupted,
  isTask,
  isTerminal,
  isTerminalOrInterrupted,
  type Task,
  type TaskState,
  type TaskStatus,
  taskStates,
  limitHistory,
} from './task.ts';
