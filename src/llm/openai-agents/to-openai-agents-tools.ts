import type { JsonSchema } from '../../bridge/action-types.ts';
import type { AgentToolsOptions, ToolAgents } from '../agent-tools.ts';
import { loadOpenAiAgents } from './openai-agents-library.ts';

/**
 * Makes tools of the OpenAI Agents SDK from the skills of agents. The results are JSON. If an agent asks a question, the
 * result contains the question and the id of the task, and the model answers with the tool `AGENT_reply`. Aborting the
 * run cancels the task.
 *
 * @returns a list for `tools` of an agent of the SDK, whose types are not known here
 * @throws A2AError if `@openai/agents` is not installed, a card cannot be fetched, or two agents have the same name
 */
export async function toOpenAiAgentsTools(
  agents: ToolAgents,
  options: AgentToolsOptions = {},
  // oxlint-disable-next-line typescript/no-explicit-any -- the SDK is not a dependency, so its types are not known here
): Promise<any[]> {
  const { tool } = await loadOpenAiAgents('toOpenAiAgentsTools');
  const { createAgentTools } = await import('../agent-tools.ts');
  const tools = await createAgentTools(agents, options);
  return tools.map(({ name, description, parameters, call }) =>
    tool({
      name,
      description,
      parameters: toLooseSchema(parameters),
      strict: false,
      execute: async (input, _context, details) =>
        JSON.stringify(await call(input, { signal: details?.signal })),
    }),
  );
}

interface LooseSchema {
  type: 'object';
  properties: { [name: string]: object };
  required: string[];
  additionalProperties: true;
}

/** Strict mode requires every property, but parameters such as `files` are optional. */
function toLooseSchema(schema: JsonSchema): LooseSchema {
  const { properties = {}, required = [] } = schema as Partial<LooseSchema>;
  return { ...schema, type: 'object', properties, required, additionalProperties: true };
}
