/**
 * Agent Development Kit of Google (package `@google/adk`): its agents as A2A agents, and remote agents as tools.
 *
 * @module
 */
export { fromAdk } from './from-adk.ts';
export { toAdkTools } from './to-adk-tools.ts';
export type { AgentToolResult, AgentToolsOptions, ToolAgents } from '../agent-tools.ts';
export type { ModelRunOptions } from '../run-model.ts';
