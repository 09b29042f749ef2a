/**
 * Bridge: skills of remote agents as actions of a host application, over HTTP and MCP, with follow-ups for tasks that
 * require input.
 *
 * @module
 */
export type {
  Action,
  ActionFile,
  ActionCallOptions,
  ActionReply,
  ActionResponse,
  ActionStatus,
  Bridge,
  FileParameter,
  ActionProgress,
  JsonSchema,
} from './action-types.ts';
export { bridge, bridgeAgents } from './bridge.ts';
export type { NamedAgent } from './actions/bridged-agent.ts';
export {
  type FollowUp,
  type FollowUpClient,
  type FollowUpStore,
  memoryFollowUpStore,
  type MemoryFollowUpStoreOptions,
} from './follow-ups/follow-up-store.ts';
export type { BridgeOptions } from './bridge-options.ts';
export { provideRequiredInput } from './actions/skill-actions.ts';
export { schemasExtension } from '../protocol/card.ts';
export {
  postgresFollowUpStore,
  type PostgresFollowUpStoreOptions,
} from './follow-ups/postgres-follow-up-store.ts';
export { sqliteFollowUpStore, type SqliteFollowUpStoreOptions } from './follow-ups/sqlite-follow-up-store.ts';
export { buildOpenApi, type OpenApiOptions } from './http/open-api.ts';
export { serveActions, type ServeActionsOptions } from './http/serve-actions.ts';
export { type BridgeAgentConfig, bridgeConfigFromEnvironment, readBridgeConfig } from './bridge-config.ts';
export { openAgent, type OpenAgentOptions, type OpenedAgent } from './open-agent.ts';
export type { OutputLine } from './supervisor/process-output.ts';
export type { SuperviseOptions } from './supervisor/supervise-options.ts';
export { supervise, type Supervised, type SupervisedState } from './supervisor/supervise.ts';
export { supervisedAgent, type SupervisedAgentOptions } from './supervisor/supervised-agent.ts';
export type { McpHttpOptions } from './mcp/server/mcp-http-options.ts';
export { mcpAgent, type McpAgentOptions } from './mcp/client/mcp-agent.ts';
export type { McpServerAddress } from './mcp/client/mcp-server-address.ts';
export type { ResourceLimits } from './mcp/server/resource-cache.ts';
export {
  type McpStreams,
  type RunningMcpServer,
  serveMcp,
  type ServeMcpOptions,
} from './mcp/server/serve-mcp.ts';
