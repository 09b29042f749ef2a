/**
 * LangChain.js and LangGraph.js: agents from runnables and graphs, and remote agents as tools.
 *
 * @module
 */
export {
  fromLangChain,
  type LangChainEvent,
  type LangChainRunnable,
  type LangChainRunOptions,
} from './from-lang-chain.ts';
export { toLangChainTools } from './to-lang-chain-tools.ts';
export type { AgentToolResult, AgentToolsOptions, ToolAgents } from '../agent-tools.ts';
