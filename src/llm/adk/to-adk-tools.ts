import type { JsonSchema } from '../../bridge/action-types.ts';
import type { AgentTool, AgentToolResult, AgentToolsOptions, ToolAgents } from '../agent-tools.ts';
import { loadAdk } from './adk-library.ts';

/** The members of `BaseTool` of the ADK that a tool implements. */
interface AdkTool {
  readonly name: string;
  readonly description: string;
  _getDeclaration(): { name: string; description: string; parametersJsonSchema: JsonSchema };
  runAsync(request: {
    args: { [name: string]: unknown };
    toolContext?: { readonly abortSignal?: AbortSignal };
  }): Promise<AgentToolResult>;
}

/**
 * Makes tools of the Agent Development Kit of Google from the skills of agents, for `tools` of an `LlmAgent`. If an agent
 * asks a question, the result contains the question and the id of the task, and the model answers with the tool
 * `AGENT_reply`. Aborting the run cancels the task.
 *
 * @returns a list that can be passed to the ADK, whose types are not known here
 * @throws A2AError if `@google/adk` is not installed, a card cannot be fetched, or two agents have the same name
 */
export async function toAdkTools(
  agents: ToolAgents,
  options: AgentToolsOptions = {},
  // oxlint-disable-next-line typescript/no-explicit-any -- the class of the ADK has members that only its types know
): Promise<any[]> {
  const { BaseTool } = await loadAdk('toAdkTools');
  const { createAgentTools } = await import('../agent-tools.ts');

  class A2aTool extends BaseTool implements AdkTool {
    readonly #tool: AgentTool;

    constructor(tool: AgentTool) {
      super({ name: tool.name, description: tool.description });
      this.#tool = tool;
    }

    _getDeclaration(): ReturnType<AdkTool['_getDeclaration']> {
      const { name, description, parameters } = this.#tool;
      return { name, description, parametersJsonSchema: parameters };
    }

    runAsync({ args, toolContext }: Parameters<AdkTool['runAsync']>[0]): Promise<AgentToolResult> {
      return this.#tool.call(args, { signal: toolContext?.abortSignal });
    }
  }

  return (await createAgentTools(agents, options)).map((tool) => new A2aTool(tool));
}
