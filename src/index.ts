/**
 * Dragoman: build, connect and test A2A agents.
 *
 * @module
 */

// To build an agent and to show it.
export type { ProcessContext } from './engine/process-context.ts';
export type { AgentDefinition, AgentOptions, LogEntry, Process, SkillDraft } from './engine/agent-definition.ts';
export { defineAgent, type LocalAgent } from './engine/local-agent.ts';
export {
  type ArtifactDraft,
  type ArtifactOutput,
  artifact,
  chunk,
  type Output,
  type Result,
  type Saying,
  type StatusOutput,
  status,
} from './engine/agent-output.ts';
export type { Ledger } from './store/task-store.ts';
export { type MemoryLedgerOptions, memoryLedger } from './store/memory-task-store.ts';
export { type NodeOptions, type RunningServer, serve } from './server/node/serve.ts';
export type { Limits } from './server/limits/limits.ts';
export type { ServerOptions } from './server/server-options.ts';

// To call one.
export { connect, type Description, type RemoteAgent } from './client/connect.ts';
export { apiKey, bearer, clientCredentials, type Credentials } from './client/credentials.ts';
export type { ConnectOptions } from './client/connect-options.ts';

// What both speak of.
export type { Agent, Call, Principal } from './protocol/agent.ts';
export type { AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Version } from './protocol/card.ts';
export { A2AError, type Reason } from './protocol/errors.ts';
export type { ArtifactEvent, MessageEvent, StatusEvent, StreamEvent, TaskEvent } from './protocol/event.ts';
export { type Finding, lint } from './protocol/lint-stream.ts';
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
  type Artifact,
  isTask,
  isTerminal,
  type Task,
  type TaskState,
  type TaskStatus,
} from './protocol/task.ts';
