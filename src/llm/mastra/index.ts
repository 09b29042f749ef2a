/**
 * Mastra (package `@mastra/core`): its agents as A2A agents, and remote agents as tools.
 *
 * @module
 */
export { fromMastra, type MastraAgent } from './from-mastra.ts';
export { type MastraTool, toMastraTools } from './to-mastra-tools.ts';
export type { AgentToolResult, AgentToolsOptions, ToolAgents } from '../agent-tools.ts';
export type { ModelRunOptions } from '../run-model.ts';
