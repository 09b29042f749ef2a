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
import type { ElicitationForm } from './elicitation.ts';
import type { ClientLibrary } from '../load-library.ts';
import type { McpServerAddress } from './mcp-server-address.ts';
import { packageVersion } from '../../../documents/package-version.ts';

/** A call of a tool. */
export interface ToolRequest {
  readonly tool: Tool;
  readonly arguments: { readonly [name: string]: unknown };
  readonly signal: AbortSignal;
  /** Told what the server says meanwhile. */
  readonly onProgress: (text: string) => void;
  /** Asks whoever called for what the server wants to know. */
  readonly ask: (form: ElicitationForm) => Promise<ElicitResult>;
}

/** What a connection tells and is told. */
export interface McpConnectionOptions {
  readonly library: ClientLibrary;
  readonly address: McpServerAddress;
  /** Announces that questions can be asked. */
  readonly asks: boolean;
  readonly connectTimeout: number;
  readonly onTools: (tools: readonly Tool[]) => void;
  readonly log: LogSink;
}

/** A timer of Node cannot be set for longer; how long a task may take is for the agent to say. */
const noTimeout = 2 ** 31 - 1;

/** How many questions a server may ask in one call. */
const maxRounds = 100;

/** A connection to an MCP server that is made again when it is lost. */
export class McpConnection {
  readonly #setting: McpConnectionOptions;
  #client: Promise<Client> | undefined;
  /** The call whose questions these are, where a question does not say which call it belongs to. */
  #asking: ToolRequest['ask'] | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(setting: McpConnectionOptions) {
    this.#setting = setting;
  }

  /** The server as it introduced itself. */
  async introduce(): Promise<{ name: string; version: string; instructions: string | undefined }> {
    const client = await this.#connected();
    const { name = 'MCP server', version = '1.0.0', title } = client.getServerVersion() ?? {};
    return { name: title ?? name, version, instructions: client.getInstructions() };
  }

  /** Calls a tool. @throws A2AError */
  async call(request: ToolRequest): Promise<CallToolResult> {
    const client = await this.#connected();
    if (client.getProtocolEra() === 'modern') return await this.#callWithRounds(client, request);
    if (!this.#setting.asks) return await this.#callOnce(client, request);
    // Up to 2025 a question does not say to which call it belongs, so there is one call at a time.
    const mine = this.#turn.then(async () => {
      if (request.signal.aborted) throw new A2AError('CANCELED');
      this.#asking = request.ask;
      try {
        return await this.#callOnce(client, request);
      } finally {
        this.#asking = undefined;
      }
    });
    this.#turn = mine.catch(() => {});
    return await mine;
  }

  async close(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    await (await client?.catch(() => undefined))?.close();
  }

  async #callWithRounds(client: Client, request: ToolRequest): Promise<CallToolResult> {
    const { isInputRequiredResult } = this.#setting.library;
    let more: object = {};
    for (let round = 0; round <= maxRounds; round++) {
      const result: unknown = await this.#callOnce(client, request, more);
      if (!isInputRequiredResult(result)) return result as CallToolResult;
      const inputResponses = await answersTo(result.inputRequests ?? {}, request.ask);
      more = { inputResponses, requestState: result.requestState };
    }
    throw new A2AError('INVALID_AGENT_RESPONSE', `The MCP server asked more than ${maxRounds} questions`);
  }

  async #callOnce(client: Client, request: ToolRequest, more: object = {}): Promise<CallToolResult> {
    const { signal, onProgress } = request;
    // A client that looks at the output takes a question for one that is wrong.
    const { outputSchema: _output, ...toolDefinition } = request.tool;
    try {
      return await client.callTool(
        { name: toolDefinition.name, arguments: request.arguments, ...more },
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
      throw this.#errorOf(cause, signal);
    }
  }

  /** What a server said itself is for its caller; what broke on the way is not. */
  #errorOf(cause: unknown, signal: AbortSignal): A2AError {
    const { ProtocolError } = this.#setting.library;
    if (signal.aborted) return new A2AError('CANCELED', undefined, { cause });
    if (cause instanceof ProtocolError)
      return new A2AError('INVALID_AGENT_RESPONSE', cause.message, { cause });
    return new A2AError('UNAVAILABLE', 'The MCP server did not answer as it should', { cause });
  }

  #connected(): Promise<Client> {
    if (!this.#client) {
      const client = this.#connect();
      this.#client = client;
      client.catch(() => this.#lost(client));
    }
    return this.#client;
  }

  #lost(client: Promise<Client>): void {
    if (this.#client === client) this.#client = undefined;
  }

  async #connect(): Promise<Client> {
    const { library, asks, connectTimeout, onTools, log } = this.#setting;
    const client = new library.Client(
      { name: 'dragoman', version: packageVersion() },
      {
        capabilities: asks ? { elicitation: { form: {} } } : {},
        versionNegotiation: { mode: 'auto', probe: { timeoutMs: connectTimeout } },
        listChanged: {
          tools: {
            onChanged: (error, tools) => {
              if (tools) onTools(tools);
              else log({ level: 'warn', message: 'The tools of the MCP server could not be listed', error });
            },
          },
        },
      },
    );
    if (asks) {
      client.setRequestHandler('elicitation/create', async ({ params }) => {
        if (!('requestedSchema' in params) || !this.#asking) return { action: 'cancel' };
        return await this.#asking(params);
      });
    }
    try {
      await client.connect(this.#transport(), { timeout: connectTimeout });
      onTools((await client.listTools(undefined, { timeout: connectTimeout })).tools);
    } catch (cause) {
      await client.close().catch(() => {});
      const { command, url } = this.#setting.address;
      throw new A2AError('UNAVAILABLE', `The MCP server ${command ?? url} cannot be reached`, {
        cause,
        hint:
          command === undefined ? 'Check the address.' : `Does "${command}" run and speak MCP over stdio?`,
      });
    }
    const mine = this.#client;
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no target of events
    client.onclose = () => {
      if (!mine) return;
      this.#lost(mine);
      log({
        level: 'warn',
        message: 'The connection to the MCP server is gone; the next call makes a new one',
      });
    };
    return client;
  }

  #transport(): Transport {
    const { library, address } = this.#setting;
    const { command, args, env, cwd, url, headers } = address;
    if ((command === undefined) === (url === undefined))
      throw invalidField('options', 'must have one of command and url');
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

/** Answers everything that a server wants to know; for what only programs could answer there is no answer. */
async function answersTo(
  requests: InputRequests,
  ask: ToolRequest['ask'],
): Promise<Record<string, ElicitResult>> {
  const answers: Record<string, ElicitResult> = {};
  for (const [key, { method, params }] of Object.entries(requests)) {
    const isForm = method === 'elicitation/create' && 'requestedSchema' in params;
    answers[key] = isForm ? await ask(params) : { action: 'cancel' };
  }
  return answers;
}
