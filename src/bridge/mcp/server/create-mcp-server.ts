import type {
  CallToolResult,
  ClientCapabilities,
  InputRequiredResult,
  Server,
  ServerContext,
} from '@modelcontextprotocol/server';
import type { LogSink } from '../../../primitives/log.ts';
import { isTextMediaType } from '../../../primitives/formats/text-media-type.ts';
import type { ActionCallOptions, Bridge } from '../../action-types.ts';
import { describeActions } from '../../actions/describe-actions.ts';
import { provideRequiredInput } from '../../actions/skill-actions.ts';
import { traceToolCall } from './trace-tool-call.ts';
import { buildToolResult, buildToolError } from './tool-result.ts';
import type { ServerLibrary } from '../load-mcp-library.ts';
import { parseQuestionAnswer, formatQuestion } from './question-form.ts';
import type { ResourceCache } from './resource-cache.ts';
import { parseToolFiles } from './tool-files.ts';
import type { ToolEntry, ToolRegistry } from './tool-registry.ts';

/** Name of the action and of the tool that continues a task. */
const followUpAction = provideRequiredInput.name;

/** Collaborators and settings that all connections of an MCP server share. */
export interface McpServerContext {
  readonly library: ServerLibrary;
  readonly bridge: Bridge;
  readonly registry: ToolRegistry;
  readonly name: string;
  readonly version: string;
  readonly instructions: string | undefined;
  readonly waitBudget: number;
  readonly progressInterval: number;
  readonly maxQuestions: number;
  readonly userId: string | undefined;
  readonly log: LogSink | undefined;
}

/** Context of one MCP client. */
export interface McpClientContext {
  /** Files that agents created for this client. */
  readonly resources: ResourceCache;
  /** Calls of one session share a context. */
  readonly sessionId: string | undefined;
  /** Called when files were added. */
  readonly onFiles: () => void;
}

/** Maximum length of a progress message, in characters. */
const maxProgressLength = 1_000;

/** Creates the server of one connection, or of one request in stateless mode. */
export function createMcpServer(context: McpServerContext, client: McpClientContext): Server {
  const { library, registry, name, version, instructions } = context;
  const server = new library.Server(
    { name, version },
    {
      capabilities: { tools: { listChanged: true }, resources: { listChanged: true } },
      // This server counts the rounds itself: after maxQuestions it returns a follow-up ID instead of an error.
      inputRequired: { maxRounds: context.maxQuestions + 1 },
      instructions: instructions ?? defaultInstructions(registry),
    },
  );
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no target of events
  server.onerror = (error) => context.log?.({ level: 'warn', message: 'MCP', error });
  server.setRequestHandler('tools/list', () => ({
    tools: [...registry.entries.values()].map(({ tool }) => tool),
  }));
  let progressCount = 0;
  server.setRequestHandler('tools/call', async ({ params }, requestContext) => {
    const entry = registry.entries.get(params.name);
    if (!entry) {
      throw new library.ProtocolError(
        library.ProtocolErrorCode.InvalidParams,
        `Unknown tool ${params.name.slice(0, 100)}. List the tools again; they may have changed.`,
      );
    }
    const count = (): number => ++progressCount;
    return await traceToolCall(params.name, requestContext.mcpReq._meta, () =>
      callTool(context, client, { server, entry, requestContext, count }, params.arguments ?? {}),
    );
  });
  server.setRequestHandler('resources/list', () => ({
    resources: client.resources.files.map(({ uri, name: file, mediaType, size }) => ({
      uri,
      name: file,
      mimeType: mediaType,
      ...(size !== undefined && { size }),
    })),
  }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }));
  server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
    const file = await client.resources.read(uri);
    if (typeof file === 'string') {
      if (file !== 'too-large') throw new library.ResourceNotFoundError(uri);
      throw new library.ProtocolError(
        library.ProtocolErrorCode.InvalidParams,
        `The file exceeds the limit of ${client.resources.maxResourceBytes} bytes`,
      );
    }
    const { mediaType, bytes } = file;
    const contents = { uri, mimeType: mediaType };
    return {
      contents: [
        isTextMediaType(mediaType)
          ? { ...contents, text: Buffer.from(bytes, 'base64').toString('utf8') }
          : { ...contents, blob: bytes },
      ],
    };
  });
  return server;
}

/** Default instructions for the model: which agents and tools there are and how to use follow-ups. */
function defaultInstructions({ entries }: ToolRegistry): string {
  const actions = [...entries.values()].map(({ action }) => action);
  const description = describeActions(actions, 'Tools', [...entries.keys()]);
  return `${description} If a result has a follow_up_id, call ${followUpAction} to continue.`;
}

interface ToolCall {
  readonly server: Server;
  readonly entry: ToolEntry;
  readonly requestContext: ServerContext;
  /** Returns the next progress number, which must increase on a connection. */
  readonly count: () => number;
}

async function callTool(
  context: McpServerContext,
  client: McpClientContext,
  { server, entry, requestContext, count }: ToolCall,
  args: { readonly [name: string]: unknown },
): Promise<CallToolResult | InputRequiredResult> {
  const { bridge, library, registry } = context;
  const { mcpReq } = requestContext;
  const questionAnswer = parseQuestionAnswer(library, mcpReq);
  let name = entry.action.name;
  let parameters = args;
  if (questionAnswer) {
    if (questionAnswer.answer === undefined) {
      return buildToolError(
        `The user did not provide the required input, so ${entry.tool.name} did not continue. To provide it later, call ${followUpAction} with follow_up_id "${questionAnswer.followUpId}" and the input as user_response.`,
      );
    }
    name = followUpAction;
    parameters = { follow_up_id: questionAnswer.followUpId, user_response: questionAnswer.answer };
  } else {
    if (args.files !== undefined)
      parameters = { ...args, files: await parseToolFiles(args.files, client.resources) };
    const problem = entry.checkArguments(parameters);
    if (problem !== undefined) return buildToolError(`Invalid arguments of ${entry.tool.name}: ${problem}`);
  }
  const response = await bridge.invoke(name, parameters, {
    signal: mcpReq.signal,
    waitBudget: context.waitBudget,
    sessionId: client.sessionId,
    userId: context.userId,
    onProgress: progressHandler(requestContext, count),
    progressInterval: context.progressInterval,
  });
  const rounds = questionAnswer?.rounds ?? 0;
  if (
    response.status === 'INPUT_REQUIRED' &&
    response.followUpId !== undefined &&
    rounds < context.maxQuestions &&
    canElicit(library, server, requestContext)
  ) {
    return formatQuestion(library, entry.action.agentName, response.message, {
      followUpId: response.followUpId,
      rounds: rounds + 1,
    });
  }
  const result = buildToolResult(response, {
    resources: client.resources,
    followUpTool: followUpAction,
    check: entry.checkResult,
  });
  if (response.files.length > 0) client.onFiles();
  return server.projectCallToolResult(result, registry.entries.get(entry.tool.name)?.tool.outputSchema);
}

/** Forwards progress to clients that sent a progress token. */
function progressHandler({ mcpReq }: ServerContext, count: () => number): ActionCallOptions['onProgress'] {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  return (progress) => {
    const message = progress.message.slice(0, maxProgressLength) || progress.state;
    const params = { progressToken, progress: count(), message };
    // Fails if the client has disconnected.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
  };
}

/** Returns true if the client supports form elicitation, which is the default of the elicitation capability. */
function canElicit(library: ServerLibrary, server: Server, { mcpReq }: ServerContext): boolean {
  const envelope: { readonly [key: string]: unknown } = mcpReq.envelope ?? {};
  const own = envelope[library.CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
  const elicitation = (own ?? server.getClientCapabilities())?.elicitation;
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}
