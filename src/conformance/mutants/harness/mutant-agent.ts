import type { IncomingHttpHeaders } from 'node:http';
import type { AgentDefinition } from '../../../engine/agent-definition.ts';
import type { Agent } from '../../../protocol/agent.ts';
import type { ServerOptions } from '../../../server/server-options.ts';
import type { CheckedTransport, CheckedVersion } from '../../rule-model.ts';

/** A request from the suite to the correct agent. Mutations change it in place. */
export interface WireRequest {
  readonly method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** The parsed body; undefined if it is not JSON. A replacement is sent instead of `body`. */
  json: unknown;
  /** The JSON-RPC method, or the HTTP method and path of REST, such as `SendMessage` or `GET /tasks/{id}`. */
  readonly operation: string;
}

/** A response of the correct agent to the suite. Mutations change it in place. */
export interface WireResponse {
  status: number;
  headers: Record<string, string>;
  text: string;
  /** The parsed text; undefined if it is not JSON. A replacement is sent instead of `text`. */
  json: unknown;
  /** @defaultValue `utf8` */
  encoding?: 'utf8' | 'latin1';
}

/** A notification to a webhook of the suite. Mutations change it in place. */
export interface WireNotification {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  json: unknown;
}

/** Changes to the traffic between a correct agent and the suite. */
export interface WireMutation {
  /** Changes a request, or returns a response in place of the agent. */
  request?(request: WireRequest): WireResponse | undefined | void;
  /** Changes a response that is not a stream, including cards. */
  response?(response: WireResponse, request: WireRequest): void;
  /** Returns replacements of an SSE frame: objects as JSON data, strings verbatim. @returns undefined to keep it */
  frame?(data: unknown, index: number, request: WireRequest): readonly (object | string)[] | undefined;
  /** Returns frames to append to a stream; `hang` keeps the stream open. */
  end?(request: WireRequest): readonly (object | string)[] | 'hang' | undefined;
  /** Changes a notification. `lost`: it is dropped. `blind`: it is sent, and the agent receives 200 in any case. */
  notification?(notification: WireNotification): 'lost' | 'blind' | undefined | void;
  /** Changes status and headers of a stream. */
  head?(head: { status: number; headers: Record<string, string> }, request: WireRequest): void;
  /** Encoding of streams. @defaultValue `utf8` */
  readonly streamEncoding?: 'latin1';
  /** Returns true for a request that ends the process: all connections are closed, and further ones refused. */
  crashesOn?(request: WireRequest, raw: Buffer): boolean;
  /** Milliseconds until a process that ended is started again. @defaultValue never */
  readonly restartsAfter?: number;
  /** Changes calls of gRPC in ways that JSON cannot express. */
  readonly grpc?: GrpcMutation;
}

/** Changes to calls of gRPC. */
export interface GrpcMutation {
  /** Returns a response in place of the agent: a result, or an error in the format of REST. */
  reply?(request: WireRequest, body: Buffer): WireResponse | undefined;
  /** Changes the headers of a response in place. */
  headers?(headers: Record<string, string>, request: WireRequest): void;
  /** Returns replacements of a message, each with its prefix. */
  message?(message: Uint8Array, request: WireRequest): readonly Uint8Array[];
  /** Returns the trailers to send; none ends the stream without them, `reset` resets it. */
  trailers?(trailers: Record<string, string>, request: WireRequest): Record<string, string> | 'reset';
  /** Closes the connection if the client resets a call. */
  readonly closesOnReset?: boolean;
  /** Continues the call at the agent if the client resets it. */
  readonly ignoresCancellation?: boolean;
}

/** An agent that is correct except for one mutation. */
export interface MutantAgent {
  /** Rule and mutation, such as `send.terminal-task:accepts`. */
  readonly id: string;
  /** Ids of the rules that must detect the mutation, each by itself. */
  readonly violates: string | readonly string[];
  readonly description: string;
  readonly versions: readonly CheckedVersion[];
  readonly transports?: readonly CheckedTransport[];
  readonly wire?: () => WireMutation;
  readonly agent?: (agent: Agent) => Agent;
  readonly definition?: Partial<AgentDefinition>;
  readonly server?: ServerOptions;
  /** Serves the agent with bearer authentication and several principals. */
  readonly requiresAuthentication?: boolean;
}

/** Properties of a mutant besides its id and description. */
export type MutantSetup = Partial<Omit<MutantAgent, 'id' | 'description'>>;

/**
 * Creates a mutant. It violates the rule before the colon of its id, in version 1.0 over all transports, unless `setup`
 * overrides that.
 */
export function mutant(id: string, description: string, setup: MutantSetup): MutantAgent {
  return { id, violates: id.slice(0, id.indexOf(':')), description, versions: ['1.0'], ...setup };
}

/** Creates the mutants of a table: by rule and name, the description and the arguments of `createSetup`. */
export function mutantTable<Args extends readonly unknown[]>(
  createSetup: (...args: Args) => MutantSetup,
  table: Readonly<Record<string, Readonly<Record<string, readonly [description: string, ...Args]>>>>,
): MutantAgent[] {
  return Object.entries(table).flatMap(([rule, rows]) =>
    Object.entries(rows).map(([name, [description, ...args]]) =>
      mutant(`${rule}:${name}`, description, createSetup(...args)),
    ),
  );
}
