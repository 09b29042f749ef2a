/**
 * The parts that all adapters of LLM frameworks share, for models and frameworks without one: model events as output of
 * an agent, messages of a conversation as model messages, and remote agents as tools.
 *
 * @module
 */
export {
  type AgentTool,
  type AgentToolResult,
  type AgentToolsOptions,
  createAgentTools,
  type ToolAgents,
} from './agent-tools.ts';
export type { ModelEvent, ModelToolCall, ModelUsage } from './model-event.ts';
export {
  type AnyModelMessage,
  fromModelMessages,
  type ModelContent,
  type ModelMessage,
  toModelMessages,
} from './model-messages.ts';
export { type ModelRunOptions, runModel } from './run-model.ts';
