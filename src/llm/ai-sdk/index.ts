/**
 * AI SDK (package `ai`): agents from `streamText` and `ToolLoopAgent`, and remote agents as tools.
 *
 * @module
 */
export {
  type AiSdkAgent,
  type AiSdkCall,
  type AiSdkSource,
  type AiSdkStream,
  fromAiSdk,
} from './from-ai-sdk.ts';
export { toAiSdkTools } from './to-ai-sdk-tools.ts';
export type { AgentToolResult, AgentToolsOptions, ToolAgents } from '../agent-tools.ts';
export type { ModelRunOptions } from '../run-model.ts';
