import type {
  CallToolResult,
  ClientCapabilities,
  InputRequiredResult,
  Server,
  ServerContext,
} from '@modelcontextprotocol/server';
import type { LogSink } from '../../../primitives/log.ts';
import type { ActionCallOptions, Bridge, ActionProgress } from '../../action-types.ts';
import { provideRequiredInput } from '../../actions/skill-actions.ts';
import { buildToolResult, buildToolError } from './tool-result.ts';
import type { ServerLibrary } from '../load-library.ts';
import { parseQuestionAnswer, formatQuestion } from './question-form.ts';
import type { ResourceCache } from './resource-cache.ts';
import { parseToolFiles } from './tool-files.ts';
import type { ToolEntry, ToolRegistry } from './tool-registry.ts';

/** The action that goes on with a task that asked something or takes long; its tool has the same name. */
const followUpAction = provideRequiredInput.name;

/** What all connections of a face share. */
export interface McpServerContext {
  readonly library: ServerLibrary;
  readonly bridge: Bridge;
  readonly toolbox: ToolRegistry;
  readonly name: string;
  readonly version: string;
  readonly instructions: string | undefined;
  readonly waitBudget: number;
  readonly progressInterval: number;
  readonly maxQuestions: number;
  readonly userId: string | undefined;
  readonly log: LogSink | undefined;
}

/** Whom a server talks to. */
export interface McpClientContext {
  /** The files made for it. */
  readonly shelf: ResourceCache;
  /** Its calls share a context. */
  readonly sessionId: string | undefined;
  /** Told when there are new files. */
  readonly onFiles: () => void;
}

/** How many texts of one progress note are passed on, in characters. */
const maxNote = 1_000;

/** Makes the server for one connection, or for one request where there are no connections. */
export function createMcpServer(setting: McpServerContext, visitor: McpClientContext): Server {
  const { library, toolbox, name, version, instructions } = setting;
  const server = new library.Server(
    { name, version },
    {
      capabilities: { tools: { listChanged: true }, resources: { listChanged: true } },
      // Questions are counted here, and the last of them becomes a follow-up instead of a failure.
      inputRequired: { maxRounds: setting.maxQuestions + 1 },
      instructions: instructions ?? instructionsFor(toolbox),
    },
  );
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no target of events
  server.onerror = (error) => setting.log?.({ level: 'warn', message: 'MCP', error });
  server.setRequestHandler('tools/list', () => ({
    tools: [...toolbox.entries.values()].map(({ tool }) => tool),
  }));
  let told = 0;
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const entry = toolbox.entries.get(params.name);
    if (!entry) {
      throw new library.ProtocolError(
        library.ProtocolErrorCode.InvalidParams,
        `There is no tool ${params.name.slice(0, 100)}. The list of tools may have changed: ask for it again.`,
      );
    }
    const count = (): number => ++told;
    return await call(setting, visitor, { server, entry, context, count }, params.arguments ?? {});
  });
  server.setRequestHandler('resources/list', () => ({
    resources: visitor.shelf.files.map(({ uri, name: file, mediaType, size }) => ({
      uri,
      name: file,
      mimeType: mediaType,
      ...(size !== undefined && { size }),
    })),
  }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }));
  server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
    const file = await visitor.shelf.read(uri);
    if (typeof file === 'string') {
      if (file !== 'too-large') throw new library.ResourceNotFoundError(uri);
      throw new library.ProtocolError(
        library.ProtocolErrorCode.InvalidParams,
        `The file has more than the ${visitor.shelf.maxResourceBytes} bytes that are shown here`,
      );
    }
    const { mediaType, bytes } = file;
    const contents = { uri, mimeType: mediaType };
    return {
      contents: [
        isText(mediaType)
          ? { ...contents, text: Buffer.from(bytes, 'base64').toString('utf8') }
          : { ...contents, blob: bytes },
      ],
    };
  });
  return server;
}

/** What a model should know about all the tools together. */
function instructionsFor({ entries }: ToolRegistry): string {
  const agents = new Set<string>();
  for (const { action } of entries.values()) if (action.agentName !== '') agents.add(action.agentName);
  const names = [...agents].join(', ').slice(0, maxNote);
  return `The tools are skills of remote agents: ${names || 'none is there yet'}. When a result has a follow_up_id, ${followUpAction} goes on with it.`;
}

/** One call of a tool. */
interface ToolCall {
  readonly server: Server;
  readonly entry: ToolEntry;
  readonly context: ServerContext;
  /** Counts what is told; numbers on one connection never go back. */
  readonly count: () => number;
}

async function call(
  setting: McpServerContext,
  visitor: McpClientContext,
  { server, entry, context, count }: ToolCall,
  given: { readonly [name: string]: unknown },
): Promise<CallToolResult | InputRequiredResult> {
  const { bridge, library, toolbox } = setting;
  const { mcpReq } = context;
  const asked = parseQuestionAnswer(library, mcpReq);
  let name = entry.action.name;
  let parameters = given;
  if (asked) {
    if (asked.answer === undefined) {
      return buildToolError(
        `Nobody answered the question, so ${entry.tool.name} did not go on. To answer it after all, call ${followUpAction} with follow_up_id "${asked.followUpId}" and the answer as user_response.`,
      );
    }
    name = followUpAction;
    parameters = { follow_up_id: asked.followUpId, user_response: asked.answer };
  } else {
    if (given.files !== undefined)
      parameters = { ...given, files: await parseToolFiles(given.files, visitor.shelf) };
    const wrong = entry.checkArguments(parameters);
    if (wrong !== undefined) return buildToolError(`The arguments of ${entry.tool.name} are wrong: ${wrong}`);
  }
  const response = await bridge.invoke(name, parameters, {
    signal: mcpReq.signal,
    waitBudget: setting.waitBudget,
    sessionId: visitor.sessionId,
    userId: setting.userId,
    onProgress: notesFor(context, count),
    progressInterval: setting.progressInterval,
  });
  const rounds = asked?.rounds ?? 0;
  if (
    response.status === 'INPUT_REQUIRED' &&
    response.followUpId !== undefined &&
    rounds < setting.maxQuestions &&
    canAsk(library, server, context)
  ) {
    return formatQuestion(library, entry.action.agentName, response.message, {
      followUpId: response.followUpId,
      rounds: rounds + 1,
    });
  }
  const result = buildToolResult(response, {
    shelf: visitor.shelf,
    followUpTool: followUpAction,
    check: entry.checkAnswer,
  });
  if (response.files.length > 0) visitor.onFiles();
  return server.projectCallToolResult(result, toolbox.entries.get(entry.tool.name)?.tool.outputSchema);
}

/** Passes on what happens meanwhile, to a client that wants to know. */
function notesFor({ mcpReq }: ServerContext, count: () => number): ActionCallOptions['onProgress'] {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  return (progress) => {
    const params = { progressToken, progress: count(), message: noteOf(progress) };
    // Whoever has gone away misses nothing.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
  };
}

function noteOf({ message, state }: ActionProgress): string {
  return message === '' ? state : message.slice(0, maxNote);
}

/** Whether the client of this request shows forms. One that says nothing about them but that it asks does. */
function canAsk(library: ServerLibrary, server: Server, { mcpReq }: ServerContext): boolean {
  const envelope: { readonly [key: string]: unknown } = mcpReq.envelope ?? {};
  const own = envelope[library.CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
  const elicitation = (own ?? server.getClientCapabilities())?.elicitation;
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

function isText(mediaType: string): boolean {
  return /^text\/|^application\/(?:[\w.+-]*\+)?(?:json|xml|yaml|javascript)\b/i.test(mediaType);
}
