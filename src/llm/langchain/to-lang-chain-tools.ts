import type { DynamicStructuredTool } from '@langchain/core/tools';
import { loadLibrary } from '../../protocol/optional/load-library.ts';
import type { AgentToolsOptions, ToolAgents } from '../agent-tools.ts';

/**
 * Makes tools of LangChain.js from the skills of agents, for `createAgent`, `bindTools` and `ToolNode`. The results are
 * JSON. If an agent asks a question, the result contains the question and the id of the task, and the model answers with
 * the tool `AGENT_reply`. Aborting the call cancels the task.
 *
 * @throws A2AError if `@langchain/core` is not installed, a card cannot be fetched, or two agents have the same name
 */
export async function toLangChainTools(
  agents: ToolAgents,
  options: AgentToolsOptions = {},
): Promise<DynamicStructuredTool[]> {
  const { DynamicStructuredTool: StructuredTool } = await loadLibrary(
    'toLangChainTools',
    '@langchain/core',
    () => import('@langchain/core/tools'),
  );
  const { createAgentTools } = await import('../agent-tools.ts');
  const tools = await createAgentTools(agents, options);
  return tools.map(
    ({ name, description, parameters, call }) =>
      new StructuredTool({
        name,
        description,
        schema: parameters,
        func: async (input: unknown, _manager: unknown, config?: { readonly signal?: AbortSignal }) =>
          JSON.stringify(await call(input, { signal: config?.signal })),
      }),
  );
}
