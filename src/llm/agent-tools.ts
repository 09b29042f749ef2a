import type { Action, ActionProgress, ActionResponse, Bridge, JsonSchema } from '../bridge/action-types.ts';
import { descriptionWithExamples } from '../bridge/actions/describe-actions.ts';
import { provideRequiredInput } from '../bridge/actions/skill-actions.ts';
import { bridgeAgents } from '../bridge/bridge.ts';
import type { BridgeOptions } from '../bridge/bridge-options.ts';
import { nameAfterCard } from '../bridge/tools/name-after-card.ts';
import { formatToolAdvice } from '../bridge/tools/tool-advice.ts';
import { assignToolNames } from '../bridge/tools/tool-names.ts';
import { truncate } from '../primitives/text.ts';
import type { Agent } from '../protocol/agent.ts';
import { invalidField } from '../protocol/errors.ts';

/** Agents that become tools: one, several named after their cards, or several by a name of your choice. */
export type ToolAgents = Agent | readonly Agent[] | { readonly [name: string]: Agent };

/** Options of {@link createAgentTools} and of all functions that make tools of an LLM framework from agents. */
export interface AgentToolsOptions
  extends Pick<BridgeOptions, 'artifacts' | 'egress' | 'waitBudget' | 'maxInlineBytes' | 'log'> {
  /** Calls of one session share a context. @defaultValue every call starts a new context */
  readonly sessionId?: string;
  /** User whose files may be read and written in `artifacts`. */
  readonly userId?: string;
  /** Called with progress of running calls. */
  readonly onProgress?: (progress: ActionProgress, tool: string) => void;
}

/** Result of a tool call, for the model. */
export interface AgentToolResult {
  readonly status: ActionResponse['status'];
  /** Text of the agent: its result, its question or its error. */
  readonly message: string;
  /** What the model can do next, if the task did not succeed. */
  readonly hint?: string;
  readonly data?: { readonly [key: string]: unknown };
  readonly files?: readonly { readonly name: string; readonly mediaType: string; readonly uri?: string }[];
  /** Pass them to the reply tool of the agent to continue the task or the conversation. */
  readonly task_id?: string;
  readonly context_id?: string;
}

/** A skill of an agent, or the reply to an agent, as a tool that no framework is needed for. */
export interface AgentTool {
  /** At most 64 letters, digits, `_` and `-`, as model APIs require; unique. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input, an object. */
  readonly parameters: JsonSchema;
  /** Never rejects; errors are in the result. */
  readonly call: (
    input: unknown,
    options?: { readonly signal?: AbortSignal | undefined },
  ) => Promise<AgentToolResult>;
}

/** Limit of OpenAI-compatible APIs, in characters. */
const maxDescriptionLength = 1_024;

/**
 * Makes tools from the skills of agents: `AGENT_SKILL` for each skill, and `AGENT_reply` for each agent, which answers a
 * question of the agent or continues a conversation with it. The names depend only on the agents and their cards.
 *
 * @throws A2AError if a card cannot be fetched, or if two agents have the same name
 */
export async function createAgentTools(
  agents: ToolAgents,
  options: AgentToolsOptions = {},
): Promise<AgentTool[]> {
  const { sessionId, userId, onProgress, ...bridgeOptions } = options;
  const named = await nameAgents(agents);
  const bridge = await bridgeAgents(named, {
    ...bridgeOptions,
    // The tools keep the skills that the cards had, and the model gets the ids of tasks instead of follow-up IDs.
    cardInterval: 0,
    followUps: { put: () => {}, take: () => undefined },
  });
  const actions = bridge.actions().filter(({ name }) => name !== provideRequiredInput.name);
  const names = assignToolNames([
    ...actions.map(({ name }) => name),
    ...named.map(({ agentName }) => replyName(agentName)),
  ]);
  const nameOf = (action: string): string => names.get(action) ?? action;
  const callOptions = (tool: string, signal: AbortSignal | undefined) => ({
    ...(sessionId !== undefined && { sessionId }),
    ...(userId !== undefined && { userId }),
    ...(onProgress && { onProgress: (progress: ActionProgress) => onProgress(progress, tool) }),
    ...(signal && { signal }),
  });
  const skillTool = (action: Action): AgentTool => {
    const name = nameOf(action.name);
    return {
      name,
      description: truncate(descriptionWithExamples(action), maxDescriptionLength),
      parameters: action.parameters,
      async call(input, { signal } = {}) {
        const response = await bridge.invoke(action.name, toObject(input), callOptions(name, signal));
        return toToolResult(response, nameOf(replyName(action.agentName)));
      },
    };
  };
  const replyTool = (agentName: string): AgentTool => {
    const name = nameOf(replyName(agentName));
    return {
      name,
      description: `Answers a question of the agent ${agentName}, continues a conversation with it, or waits for a task that is still running.`,
      parameters: replyParameters,
      async call(input, { signal } = {}) {
        const response = await callReply(bridge, agentName, toObject(input), callOptions(name, signal));
        return toToolResult(response, name);
      },
    };
  };
  return [...actions.map(skillTool), ...named.map(({ agentName }) => replyTool(agentName))];
}

/** Key of the reply tool among the names of actions, which contain a slash: a skill may be called reply. */
function replyName(agentName: string): string {
  return `${agentName} reply`;
}

const replyParameters: JsonSchema = {
  type: 'object',
  properties: {
    task_id: {
      type: 'string',
      description: 'task_id of the result, to answer its question or to wait for it.',
    },
    context_id: { type: 'string', description: 'context_id of the result, to continue the conversation.' },
    message: { type: 'string', description: 'Text for the agent; empty to wait for the task.' },
  },
  required: ['message'],
  additionalProperties: false,
};

function callReply(
  bridge: Bridge,
  agentName: string,
  input: { readonly [name: string]: unknown },
  options: Parameters<Bridge['reply']>[2],
): Promise<ActionResponse> {
  // Models write an empty string for an id that they do not have.
  const readId = (id: unknown): string | undefined => (typeof id === 'string' && id !== '' ? id : undefined);
  const { task_id: taskId, context_id: contextId, message } = input;
  return bridge.reply(
    agentName,
    {
      taskId: readId(taskId),
      contextId: readId(contextId),
      text: typeof message === 'string' ? message : '',
    },
    options,
  );
}

async function nameAgents(agents: ToolAgents): Promise<{ agentName: string; agent: Agent }[]> {
  const isOne = isAgent(agents);
  const list: unknown[] = isOne ? [agents] : Object.values(Object(agents) as object);
  if (!list.every(isAgent) || typeof agents !== 'object')
    throw invalidField(
      'agents',
      'must be an agent, such as connect(url), a list of agents, or agents by name',
    );
  if (!isOne && !Array.isArray(agents))
    return Object.keys(agents).map((agentName, index) => ({ agentName, agent: list[index] as Agent }));
  const named: { agentName: string; agent: Agent }[] = [];
  for (const agent of list) {
    const agentName = await nameAfterCard(agent);
    if (named.some((each) => each.agentName === agentName))
      throw invalidField(
        'agents',
        `must have different names, but two are called ${agentName}; name them yourself, as in { first: agent, second: agent }`,
      );
    named.push({ agentName, agent });
  }
  return named;
}

function isAgent(candidate: unknown): candidate is Agent {
  return typeof (candidate as Partial<Agent> | undefined)?.card === 'function';
}

function toObject(input: unknown): { readonly [name: string]: unknown } {
  return typeof input === 'object' && input !== null ? { ...input } : {};
}

function toToolResult(response: ActionResponse, replyTool: string): AgentToolResult {
  const { status, message, files, taskId, contextId } = response;
  const { follow_up_id: _id, ...data } = response.data;
  const hint = formatToolAdvice(response, {
    call: taskId === undefined ? '' : `Call the tool ${replyTool} with task_id "${taskId}"`,
    withInput: 'and the required input as message.',
    toWait: 'and an empty message to keep waiting.',
  });
  return {
    status,
    message,
    ...(hint !== '' && { hint }),
    ...(Object.keys(data).length > 0 && { data }),
    ...(files.length > 0 && {
      files: files.map(({ name, mediaType, uri }) => ({
        name,
        mediaType,
        ...(uri !== undefined && { uri }),
      })),
    }),
    ...(taskId !== undefined && { task_id: taskId }),
    ...(contextId !== undefined && { context_id: contextId }),
  };
}
