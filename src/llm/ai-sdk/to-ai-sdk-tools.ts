import type { ToolSet } from 'ai';
import { loadLibrary } from '../../protocol/optional/load-library.ts';
import type { AgentToolsOptions, ToolAgents } from '../agent-tools.ts';

/**
 * Makes tools of the AI SDK from the skills of agents. If an agent asks a question, the result contains the question and
 * the id of the task, and the model answers with the tool `AGENT_reply`. Aborting the call cancels the task.
 *
 * @throws A2AError if `ai` is not installed, a card cannot be fetched, or two agents have the same name
 *
 * @example
 * ```ts
 * const tools = await toAiSdkTools({ weather: connect('http://localhost:4000'), calendar: connect('http://localhost:4001') });
 * ```
 */
export async function toAiSdkTools(agents: ToolAgents, options: AgentToolsOptions = {}): Promise<ToolSet> {
  const { dynamicTool, jsonSchema } = await loadLibrary('toAiSdkTools', 'ai', () => import('ai'));
  const { createAgentTools } = await import('../agent-tools.ts');
  const tools = await createAgentTools(agents, options);
  return Object.fromEntries(
    tools.map(({ name, description, parameters, call }) => [
      name,
      dynamicTool({
        description,
        inputSchema: jsonSchema(parameters),
        execute: (input, { abortSignal }) => call(input, { signal: abortSignal }),
      }),
    ]),
  );
}
