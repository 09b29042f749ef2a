import type {
  CallToolResult,
  Client,
  ElicitResult,
  InputRequests,
  Tool,
  Transport,
} from '@modelcontextprotocol/client';
import { A2AError, invalidField } from '../../../protocol/errors.ts';
import type { LogSink } from '../../../primitives/log.ts';
import { LazyTracing } from '../../../tracing/tracing.ts';
import { toolCallAttributes } from '../tool-call-attributes.ts';
import type { ElicitationForm } from './elicitation.ts';
import type { ClientLibrary } from '../load-mcp-library.ts';
import type { McpServerAddress } from './mcp-server-address.ts';
import { packageVersion } from '../../../primitives/node/package-version.ts';

/** A tool call. */
export interface ToolRequest {
  readonly tool: Tool;
  readonly arguments: { readonly [name: string]: unknown };
  readonly signal: AbortSignal;
  /** Called with progress notifications. */
  readonly onProgress: (text: string) => void;
  /** Requests the input that the server elicits. */
  readonly elicit: (form: ElicitationForm) => Promise<ElicitResult>;
}

/** Options of {@link McpConnection}. */
export interface McpConnectionOptions {
  readonly library: ClientLibrary;
  readonly address: McpServerAddress;
  /** Declares the elicitation capability. */
  readonly canElicit: boolean;
  readonly connectTimeout: number;
  readonly onTools: (tools: readonly Tool[]) => void;
  readonly log: LogSink;
}

/** Maximum of a Node.js timer. The timeouts of the task apply instead. */
const noTimeout = 2 ** 31 - 1;

/** Maximum number of elicitation rounds per call. */
const maxRounds = 100;

/** Connection to an MCP server. Reconnects on the next call after a disconnect. */
export class McpConnection {
  readonly #options: McpConnectionOptions;
  #client: Promise<Client> | undefined;
  /** Handler of the current call, for protocol versions in which an elicitation does not name its call. */
  #elicit: ToolRequest['elicit'] | undefined;
  #lastCall: Promise<unknown> = Promise.resolve();
  readonly #tracing = new LazyTracing(undefined);

  constructor(options: McpConnectionOptions) {
    this.#options = options;
  }

  /** Connects and returns name, version and instructions of the server. */
  async readServerInfo(): Promise<{ name: string; version: string; instructions: string | undefined }> {
    const client = await this.#getClient();
    const { name = 'MCP server', version = '1.0.0', title } = client.getServerVersion() ?? {};
    return { name: title ?? name, version, instructions: client.getInstructions() };
  }

  /** Calls a tool. @throws A2AError */
  call(request: ToolRequest): Promise<CallToolResult> {
    const { name } = request.tool;
    const attributes = toolCallAttributes(name);
    return this.#tracing.traced(`tools/call ${name}`, { kind: 'client', attributes }, async (span) => {
      const result = await this.#call(request);
      if (result.isError) span?.end('tool_error');
      return result;
    });
  }

  async #call(request: ToolRequest): Promise<CallToolResult> {
    const client = await this.#getClient();
    if (client.getProtocolEra() === 'modern') return await this.#callWithRounds(client, request);
    if (!this.#options.canElicit) return await this.#callOnce(client, request);
    // Up to MCP 2025-11-25 an elicitation does not name its call, so calls are serialized.
    const current = this.#lastCall.then(async () => {
      if (request.signal.aborted) throw new A2AError('CANCELED');
      this.#elicit = request.elicit;
      try {
        return await this.#callOnce(client, request);
      } finally {
        this.#elicit = undefined;
      }
    });
    this.#lastCall = current.catch(() => {});
    return await current;
  }

  async close(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    await (await client?.catch(() => undefined))?.close();
  }

  async #callWithRounds(client: Client, request: ToolRequest): Promise<CallToolResult> {
    const { isInputRequiredResult } = this.#options.library;
    let more: object = {};
    for (let round = 0; round <= maxRounds; round++) {
      const result: unknown = await this.#callOnce(client, request, more);
      if (!isInputRequiredResult(result)) return result as CallToolResult;
      const inputResponses = await collectInput(result.inputRequests ?? {}, request.elicit);
      more = { inputResponses, requestState: result.requestState };
    }
    throw new A2AError(
      'INVALID_AGENT_RESPONSE',
      `The MCP server requested input more than ${maxRounds} times`,
    );
  }

  async #callOnce(client: Client, request: ToolRequest, more: object = {}): Promise<CallToolResult> {
    const { signal, onProgress } = request;
    // With an output schema the client would reject input-required results as invalid.
    const { outputSchema: _output, ...toolDefinition } = request.tool;
    try {
      return await client.callTool(
        {
          name: toolDefinition.name,
          arguments: request.arguments,
          ...more,
          ...(this.#tracing.current && { _meta: this.#tracing.current.inject({}) }),
        },
        {
          signal,
          timeout: noTimeout,
          allowInputRequired: true,
          toolDefinition,
          onprogress: ({ message, progress, total }) =>
            onProgress(message ?? (total === undefined ? `${progress}` : `${progress} of ${total}`)),
        },
      );
    } catch (cause) {
      throw this.#toError(cause, signal);
    }
  }

  /** Passes on error messages of the server, but not those of the connection. */
  #toError(cause: unknown, signal: AbortSignal): A2AError {
    const { ProtocolError } = this.#options.library;
    if (signal.aborted) return new A2AError('CANCELED', undefined, { cause });
    if (cause instanceof ProtocolError)
      return new A2AError('INVALID_AGENT_RESPONSE', cause.message, { cause });
    return new A2AError('UNAVAILABLE', 'The call of the MCP server failed', { cause });
  }

  #getClient(): Promise<Client> {
    if (!this.#client) {
      const client = this.#connect();
      this.#client = client;
      client.catch(() => this.#disconnected(client));
    }
    return this.#client;
  }

  #disconnected(client: Promise<Client>): void {
    if (this.#client === client) this.#client = undefined;
  }

  async #connect(): Promise<Client> {
    const { library, canElicit, connectTimeout, onTools, log } = this.#options;
    const client = new library.Client(
      { name: 'dragoman', version: packageVersion() },
      {
        capabilities: canElicit ? { elicitation: { form: {} } } : {},
        versionNegotiation: { mode: 'auto', probe: { timeoutMs: connectTimeout } },
        listChanged: {
          tools: {
            onChanged: (error, tools) => {
              if (tools) onTools(tools);
              else log({ level: 'warn', message: 'Failed to list the tools of the MCP server', error });
            },
          },
        },
      },
    );
    if (canElicit) {
      client.setRequestHandler('elicitation/create', async ({ params }) => {
        if (!('requestedSchema' in params) || !this.#elicit) return { action: 'cancel' };
        return await this.#elicit(params);
      });
    }
    try {
      await client.connect(this.#transport(), { timeout: connectTimeout });
      onTools((await client.listTools(undefined, { timeout: connectTimeout })).tools);
    } catch (cause) {
      await client.close().catch(() => {});
      const { command, url } = this.#options.address;
      const what = command === undefined ? 'the URL' : `that "${command}" starts and uses MCP over stdio`;
      const message = `Cannot connect to the MCP server ${command ?? url}`;
      throw new A2AError('UNAVAILABLE', message, { cause, hint: `Check ${what}.` });
    }
    const current = this.#client;
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no target of events
    client.onclose = () => {
      if (!current) return;
      this.#disconnected(current);
      log({ level: 'warn', message: 'Disconnected from the MCP server; the next call reconnects' });
    };
    return client;
  }

  #transport(): Transport {
    const { library, address } = this.#options;
    const { command, args, env, cwd, url, headers } = address;
    if ((command === undefined) === (url === undefined))
      throw invalidField('options', 'must set either command or url');
    if (url !== undefined) {
      return new library.StreamableHTTPClientTransport(new URL(url), {
        ...(headers && { requestInit: { headers } }),
      });
    }
    return new library.StdioClientTransport({
      command: command ?? '',
      ...(args && { args: [...args] }),
      env: { ...library.getDefaultEnvironment(), ...env },
      ...(cwd !== undefined && { cwd }),
    });
  }
}

/** Responds to form elicitations; cancels all other input requests, such as sampling. */
async function collectInput(
  requests: InputRequests,
  elicit: ToolRequest['elicit'],
): Promise<Record<string, ElicitResult>> {
  const responses: Record<string, ElicitResult> = {};
  for (const [key, { method, params }] of Object.entries(requests)) {
    const isForm = method === 'elicitation/create' && 'requestedSchema' in params;
    responses[key] = isForm ? await elicit(params) : { action: 'cancel' };
  }
  return responses;
}
