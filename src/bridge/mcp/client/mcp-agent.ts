import type { Tool } from '@modelcontextprotocol/client';
import type { ProcessContext } from '../../../engine/process-context.ts';
import type { AgentOptions } from '../../../engine/agent-definition.ts';
import { defineAgent } from '../../../engine/local-agent.ts';
import { artifact, type AgentOutput, status } from '../../../engine/agent-output.ts';
import type { Agent } from '../../../protocol/agent.ts';
import type { AgentCard } from '../../../protocol/card.ts';
import { A2AError } from '../../../protocol/errors.ts';
import { textOf } from '../../../protocol/part.ts';
import { schemasExtension } from '../../actions/skill-actions.ts';
import { type ElicitationForm, parseElicitationAnswer, formatElicitation } from './elicitation.ts';
import { loadClientLibrary } from '../load-library.ts';
import { McpConnection, type ToolRequest } from './mcp-connection.ts';
import type { McpServerAddress } from './mcp-server-address.ts';
import { CallUpdates } from '../server/call-updates.ts';
import { parseToolArguments } from './tool-arguments.ts';
import { toolContentParts } from './tool-content.ts';

/** Which MCP server becomes an agent, and how. */
export interface McpAgentOptions extends McpServerAddress {
  /** @defaultValue as the server calls itself */
  name?: string;
  /** @defaultValue what the server says about itself */
  description?: string;
  /**
   * Lets the server ask back; its questions make a task `input-required`. A server of MCP up to 2025-11-25 does not say
   * which call its question belongs to, so its tools are called one after the other then.
   * @defaultValue true
   */
  canElicit?: boolean;
  /** For how many milliseconds the server may take to introduce itself. @defaultValue 30,000 */
  connectTimeout?: number;
  /** Where tasks are kept, and how long they may take. */
  options?: AgentOptions;
}

/** How often a caller may answer a question in a way that is no answer. */
const maxTries = 3;

/** How many tools of a server become skills. */
const maxTools = 1_000;

/**
 * Makes an agent of an MCP server: a skill for each of its tools. A message names the skill in its metadata (`skill`)
 * and has the arguments as data; for a tool with one parameter a text is enough, and a server with one tool needs no
 * name.
 *
 * @throws A2AError when the server cannot be reached
 *
 * @example
 * ```ts
 * const files = await mcpAgent({ command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '.'] });
 * await serve(files, { port: 4000 });
 * ```
 */
export async function mcpAgent(given: McpAgentOptions): Promise<Agent> {
  const library = await loadClientLibrary();
  const {
    name,
    description,
    canElicit: asks = true,
    connectTimeout = 30_000,
    options = {},
    ...address
  } = given;
  let tools = new Map<string, Tool>();
  const connection = new McpConnection({
    library,
    address,
    asks,
    connectTimeout,
    log: options.log ?? (() => {}),
    onTools: (found) => {
      tools = new Map(found.slice(0, maxTools).map((tool) => [tool.name, tool]));
    },
  });
  const server = await connection.introduce();
  const agent = defineAgent(
    {
      name: name ?? server.name,
      description: description ?? server.instructions ?? `The tools of ${server.name}`,
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
    // Tools come and go while the agent is there.
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
          description: 'What each skill takes and gives',
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
    const tool = choose(tools, context);
    request = { tool, arguments: parseToolArguments(context.message, tool) };
  } catch (thrown) {
    yield status('rejected', A2AError.from(thrown).message);
    return;
  }
  const news = new CallUpdates();
  const calling = connection
    .call({
      ...request,
      signal: context.signal,
      onProgress: (text) => news.push(text),
      // A note that is told late must not look as if the question were answered.
      ask: (form) => news.run(() => ask(context, form)),
    })
    .finally(() => news.end());
  // Whoever reads the news first must not leave a failure without a listener.
  calling.catch(() => {});
  for await (const each of news) {
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

/** Finds the tool that a message is for. */
function choose(tools: ReadonlyMap<string, Tool>, { message, metadata }: ProcessContext): Tool {
  const named = [message.metadata, metadata].flatMap((each) => [each?.skill, each?.skillId]);
  const name = named.find((each) => typeof each === 'string');
  const names = [...tools.keys()].slice(0, 50).join(', ');
  const tool = name === undefined && tools.size === 1 ? [...tools.values()][0] : tools.get(name ?? '');
  if (tool) return tool;
  const what = name === undefined ? 'No skill is named' : `There is no skill ${name.slice(0, 100)}`;
  throw new A2AError(
    'INVALID_PARAMS',
    `${what}. Name one in the metadata of the message as "skill": ${names}`,
  );
}

/** Asks the caller, until there is an answer that fits the form. */
async function ask(context: ProcessContext, form: ElicitationForm): ReturnType<ToolRequest['ask']> {
  let question = form;
  for (let tries = 0; tries < maxTries; tries++) {
    const answer = parseElicitationAnswer(await context.ask(formatElicitation(question)), form);
    if (typeof answer !== 'string') return answer;
    question = { ...form, message: `${answer}\n\n${form.message}` };
  }
  return { action: 'cancel' };
}
