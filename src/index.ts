/**
 * Dragoman: build, connect and test A2A agents.
 *
 * @module
 */

// Define and serve agents.
export type { ProcessContext } from './engine/process-context.ts';
export type { HistoryLimits } from './engine/messages/context-history.ts';
export type {
  AgentDefinition,
  AgentOptions,
  LogEntry,
  ProcessFunction,
} from './engine/agent-definition.ts';
export { defineSkill, type SkillDefinition } from './engine/skills/define-skill.ts';
export type { StandardSchema } from './engine/skills/standard-schema.ts';
export { defineAgent, type LocalAgent } from './engine/local-agent.ts';
export {
  type ArtifactDraft,
  type ArtifactOutput,
  artifact,
  chunk,
  type AgentOutput,
  type AgentResult,
  type MessageContent,
  type StatusOutput,
  status,
} from './engine/agent-output.ts';
export type { TaskStore } from './store/task-store.ts';
export { type MemoryTaskStoreOptions, memoryTaskStore } from './store/memory-task-store.ts';
export { type ServeOptions, type RunningServer, serve } from './server/node/serve.ts';
export { type NodeHandler, toNodeHandler } from './server/node/to-node-handler.ts';
export { type FetchHandler, toFetchHandler } from './server/fetch.ts';
export type { ServerLimits } from './server/limits/limits.ts';
export type { ServerOptions } from './server/server-options.ts';

// Call agents.
export { connect, type ConnectionInfo, type RemoteAgent } from './client/connect.ts';
export { apiKey, bearer, clientCredentials, type Credentials } from './client/credentials.ts';
export type { ConnectOptions } from './client/connect-options.ts';

// Protocol model.
export type { Agent, CallContext, Principal } from './protocol/agent.ts';
export { type AgentInterceptor, withInterceptor } from './protocol/composition/with-interceptor.ts';
export type {
  AgentCapabilities,
  AgentCard,
  AgentInterface,
  AgentSkill,
  ProtocolVersion,
} from './protocol/card.ts';
export { A2AError, type ErrorReason } from './protocol/errors.ts';
export type {
  TaskArtifactUpdateEvent,
  DirectMessageEvent,
  TaskStatusUpdateEvent,
  StreamEvent,
  TaskSnapshotEvent,
} from './protocol/event.ts';
export { type LintFinding, lintStream } from './protocol/lint-stream.ts';
export type { Message, Role } from './protocol/message.ts';
export {
  bytesOf,
  type DataPart,
  type Metadata,
  type Part,
  rawPart,
  type RawPart,
  type TextPart,
  textOf,
  type UrlPart,
} from './protocol/part.ts';
export { reduce } from './protocol/reduce.ts';
export type { SendConfiguration, SendRequest } from './protocol/requests.ts';
export {
  type FileInput,
  type MessageInput,
  type SendInput,
  toSendRequest,
  userMessage,
} from './protocol/user-message.ts';
export {
  type Artifact,
  isTask,
  isTerminal,
  type Task,
  type TaskState,
  type TaskStatus,
} from './protocol/task.ts';
