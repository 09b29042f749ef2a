import type { AgentToolResult, AgentToolsOptions, ToolAgents } from '../agent-tools.ts';

/** A tool in the format of Mastra. */
export interface MastraTool {
  id: string;
  description: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- a JSON Schema, which Mastra types with a library of its own
  inputSchema: any;
  execute(input: unknown, context?: { readonly abortSignal?: AbortSignal }): Promise<AgentToolResult>;
}

/**
 * Makes tools of Mastra from the skills of agents, for `tools` of an agent. If an agent asks a question, the result
 * contains the question and the id of the task, and the model answers with the tool `AGENT_reply`. Aborting the call
 * cancels the task.
 *
 * @throws A2AError if a card cannot be fetched, or two agents have the same name
 */
export async function toMastraTools(
  agents: ToolAgents,
  options: AgentToolsOptions = {},
): Promise<{ [name: string]: MastraTool }> {
  const { createAgentTools } = await import('../agent-tools.ts');
  const tools = await createAgentTools(agents, options);
  return Object.fromEntries(
    tools.map(({ name, description, parameters, call }): [string, MastraTool] => [
      name,
      {
        id: name,
        description,
        inputSchema: parameters,
        execute: (input, context) => call(input, { signal: context?.abortSignal }),
      },
    ]),
  );
}
