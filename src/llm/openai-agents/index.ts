/**
 * OpenAI Agents SDK (package `@openai/agents`): its agents as A2A agents, and remote agents as tools.
 *
 * @module
 */
export {
  fromOpenAiAgents,
  type OpenAiAgent,
  type OpenAiAgentsCall,
  type OpenAiAgentsRun,
  type OpenAiAgentsSource,
} from './from-openai-agents.ts';
export { toOpenAiAgentsTools } from './to-openai-agents-tools.ts';
export type { AgentToolResult, AgentToolsOptions, ToolAgents } from '../agent-tools.ts';
export type { ModelRunOptions } from '../run-model.ts';
