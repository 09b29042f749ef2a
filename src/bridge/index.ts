/**
 * Skills of remote agents as functions of a host application: actions, what they answer, and questions that come back.
 *
 * @module
 */
export type {
  Action,
  ActionFile,
  ActionMeta,
  ActionResponse,
  ActionStatus,
  Bridge,
  FileParameter,
  Progress,
  Schema,
} from './action.ts';
export { bridge, bridges } from './bridge.ts';
export type { NamedAgent } from './bridged-agent.ts';
export {
  type FollowUp,
  type FollowUpCaller,
  type FollowUps,
  memoryFollowUps,
  type MemoryFollowUpsOptions,
} from './follow-ups.ts';
export type { BridgeOptions } from './options.ts';
export { provideRequiredInput, schemasExtension } from './skill.ts';
export { sqliteFollowUps, type SqliteFollowUpsOptions } from './sqlite-follow-ups.ts';
export { openApi, type OpenApiOptions } from './http/open-api.ts';
export { serveActions, type ServeActionsOptions } from './http/serve-actions.ts';
export { type AgentConfig, bridgeConfigFromEnvironment, readBridgeConfig } from './config.ts';
export { openAgent, type OpenAgentOptions, type OpenedAgent } from './open-agent.ts';
export type { OutputLine } from './supervisor/output.ts';
export type { SuperviseOptions } from './supervisor/options.ts';
export { supervise, type Supervised, type SupervisedState } from './supervisor/supervise.ts';
export { supervisedAgent, type SupervisedAgentOptions } from './supervisor/supervised-agent.ts';
export type { McpHttpOptions } from './mcp/http-options.ts';
export { mcpAgent, type McpAgentOptions } from './mcp/mcp-agent.ts';
export type { McpServerAddress } from './mcp/mcp-server-address.ts';
export type { ResourceLimits } from './mcp/resource-shelf.ts';
export { type McpStreams, type RunningMcp, serveMcp, type ServeMcpOptions } from './mcp/serve-mcp.ts';
