import type { Tool } from '@modelcontextprotocol/client';
import type { ProcessContext } from '../../../engine/process-context.ts';
import type { AgentOptions } from '../../../engine/agent-definition.ts';
import { defineAgent } from '../../../engine/local-agent.ts';
import { artifact, type AgentOutput, status } from '../../../engine/agent-output.ts';
import type { Agent } from '../../../protocol/agent.ts';
import { type AgentCard, schemasExtension } from '../../../protocol/card.ts';
import { A2AError } from '../../../protocol/errors.ts';
import { textOf } from '../../../protocol/part.ts';
import { type ElicitationForm, parseElicitationAnswer, formatElicitation } from './elicitation.ts';
import { loadClientLibrary } from '../load-mcp-library.ts';
import { McpConnection, type ToolRequest } from './mcp-connection.ts';
import type { McpServerAddress } from './mcp-server-address.ts';
import { CallUpdates } from '../server/call-updates.ts';
import { parseToolArguments } from './tool-arguments.ts';
import { toolContentParts } from './tool-content.ts';

/** Options of {@link mcpAgent}. */
export interface McpAgentOptions extends McpServerAddress {
  /** @defaultValue the name of the MCP server */
  name?: string;
  /** @defaultValue the instructions of the MCP server */
  description?: string;
  /**
   * Supports MCP elicitation; a request of the server makes the task `input-required`. Up to MCP 2025-11-25 an elicitation
   * does not name its tool call, so tools of such servers are called one at a time.
   * @defaultValue true
   */
  canElicit?: boolean;
  /** Milliseconds to wait for the connection. @defaultValue 30,000 */
  connectTimeout?: number;
  /** Options of the agent, such as its task store and timeouts. */
  options?: AgentOptions;
}

/** Maximum number of invalid responses to an elicitation. */
const maxAttempts = 3;

/** Maximum number of tools that become skills. */
const maxTools = 1_000;

/**
 * Exposes an MCP server as an agent with one skill per tool. A message names the skill in its metadata (`skill`) and
 * contains the arguments as data. Text is sufficient for a tool with one parameter; the skill may be omitted if the
 * server has one tool.
 *
 * @throws A2AError `UNAVAILABLE` if the server cannot be reached
 *
 * @example
 * ```ts
 * const files = await mcpAgent({ command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '.'] });
 * await serve(files, { port: 4000 });
 * ```
 */
export async function mcpAgent(mcpOptions: McpAgentOptions): Promise<Agent> {
  const library = await loadClientLibrary();
  const {
    name,
    description,
    canElicit = true,
    connectTimeout = 30_000,
    options = {},
    ...address
  } = mcpOptions;
  let tools = new Map<string, Tool>();
  const connection = new McpConnection({
    library,
    address,
    canElicit,
    connectTimeout,
    log: options.log ?? (() => {}),
    onTools: (found) => {
      tools = new Map(found.slice(0, maxTools).map((tool) => [tool.name, tool]));
    },
  });
  const server = await connection.readServerInfo();
  const agent = defineAgent(
    {
      name: name ?? server.name,
      description: description ?? server.instructions ?? `Tools of ${server.name}`,
      version: server.version,
      skills: [],
      defaultInputModes: ['application/json', 'text/plain'],
      defaultOutputModes: ['application/json', 'text/plain', '*/*'],
      process: (context) => run(connection, tools, context),
    },
    options,
  );
  const card = await agent.card();
  const close = agent.close.bind(agent);
  return Object.assign(agent, {
    // The tools of the server may change at any time.
    card: async () => withTools(card, tools),
    close: async () => {
      await close();
      await connection.close();
    },
  });
}

function withTools(card: AgentCard, tools: ReadonlyMap<string, Tool>): AgentCard {
  const list = [...tools.values()];
  const schemas = list.map(({ name, inputSchema, outputSchema }) => [
    name,
    { input_schema: inputSchema, ...(outputSchema && { output_schema: outputSchema }) },
  ]);
  return {
    ...card,
    capabilities: {
      ...card.capabilities,
      extensions: [
        {
          uri: schemasExtension,
          description: 'Input and output schemas of the skills',
          params: { skills: Object.fromEntries(schemas) as object },
        },
      ],
    },
    skills: list.map(({ name, title, annotations, description }) => ({
      id: name,
      name: title ?? annotations?.title ?? name,
      description: description ?? `Calls the tool ${name}`,
      tags: ['mcp'],
    })),
  };
}

async function* run(
  connection: McpConnection,
  tools: ReadonlyMap<string, Tool>,
  context: ProcessContext,
): AsyncGenerator<AgentOutput> {
  let request: Pick<ToolRequest, 'tool' | 'arguments'>;
  try {
    const tool = chooseTool(tools, context);
    request = { tool, arguments: parseToolArguments(context.message, tool) };
  } catch (thrown) {
    yield status('rejected', A2AError.from(thrown).message);
    return;
  }
  const updates = new CallUpdates();
  const calling = connection
    .call({
      ...request,
      signal: context.signal,
      onProgress: (text) => updates.push(text),
      // Runs after earlier progress, so that a late status update does not end the input-required state.
      elicit: (form) => updates.run(() => elicit(context, form)),
    })
    .finally(() => updates.end());
  // The updates are consumed first; the promise must have a rejection handler meanwhile.
  calling.catch(() => {});
  for await (const each of updates) {
    if (typeof each === 'string') yield status('working', each);
    else await each();
  }
  try {
    const result = await calling;
    const parts = toolContentParts(result);
    if (result.isError) yield status('failed', textOf(parts) || 'The tool failed');
    else if (parts.length > 0) yield artifact(parts, { name: request.tool.name });
  } catch (thrown) {
    const error = A2AError.from(thrown);
    if (error.reason === 'CANCELED') throw error;
    yield status('failed', error.message);
  }
}

function chooseTool(tools: ReadonlyMap<string, Tool>, { message, metadata }: ProcessContext): Tool {
  const named = [message.metadata, metadata].flatMap((each) => [each?.skill, each?.skillId]);
  const name = named.find((each) => typeof each === 'string');
  const names = [...tools.keys()].slice(0, 50).join(', ');
  const tool = name === undefined && tools.size === 1 ? [...tools.values()][0] : tools.get(name ?? '');
  if (tool) return tool;
  const what = name === undefined ? 'Missing skill' : `Unknown skill ${name.slice(0, 100)}`;
  throw new A2AError(
    'INVALID_PARAMS',
    `${what}. Set "skill" in the metadata of the message to one of: ${names}`,
  );
}

/** Requests input until the response matches the form. */
async function elicit(context: ProcessContext, form: ElicitationForm): ReturnType<ToolRequest['elicit']> {
  let question = form;
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const answer = parseElicitationAnswer(await context.ask(formatElicitation(question)), form);
    if (typeof answer !== 'string') return answer;
    question = { ...form, message: `${answer}\n\n${form.message}` };
  }
  return { action: 'cancel' };
}
