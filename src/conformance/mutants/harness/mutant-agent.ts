import type { IncomingHttpHeaders } from 'node:http';
import type { AgentDefinition } from '../../../engine/agent-definition.ts';
import type { Agent } from '../../../protocol/agent.ts';
import type { ServerOptions } from '../../../server/server-options.ts';
import type { CheckedTransport, CheckedVersion } from '../../rule-model.ts';

/** A request on its way to the correct agent. What is changed in it is what the agent gets. */
export interface WireRequest {
  readonly method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** The body as JSON; undefined when it is none. What is put here instead is sent. */
  json: unknown;
  /** The method of JSON-RPC, or verb and path of REST, such as `SendMessage` or `GET /tasks/{id}`. */
  readonly operation: string;
}

/** An answer on its way back. What is changed in it is what the caller gets. */
export interface WireResponse {
  status: number;
  headers: Record<string, string>;
  text: string;
  /** The text as JSON; undefined when it is none. What is put here instead is sent. */
  json: unknown;
  /** How the text becomes bytes. @defaultValue `utf8` */
  encoding?: 'utf8' | 'latin1';
}

/** A notification on its way to a webhook. What is changed in it is what the webhook gets. */
export interface WireNotification {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  /** What is put here instead is sent. */
  json: unknown;
}

/** What goes wrong on the wire between a correct agent and its callers. */
export interface WireMutation {
  /** Changes a request, or answers it instead of the agent. */
  request?(request: WireRequest): WireResponse | undefined | void;
  /** Changes an answer that is all there, cards included. */
  response?(answer: WireResponse, request: WireRequest): void;
  /** Gives the frames that are sent instead of one: JSON as data, or text as it is. @returns undefined to leave it. */
  frame?(data: unknown, index: number, request: WireRequest): readonly (object | string)[] | undefined;
  /** What is sent after the last frame, before the end; `hang` never ends the stream. */
  end?(request: WireRequest): readonly (object | string)[] | 'hang' | undefined;
  /** Changes a notification. `lost`: it never arrives. `blind`: the agent hears that all is well, whatever it is. */
  notification?(notification: WireNotification): 'lost' | 'blind' | undefined | void;
  /** Changes the head of a stream. */
  head?(head: { status: number; headers: Record<string, string> }, request: WireRequest): void;
}

/** An agent that is correct but for one thing. */
export interface MutantAgent {
  /** Such as `send.terminal-task:accepts`: the rule that it breaks, and how. */
  readonly id: string;
  /** The ids of the rules that notice it, each by itself. */
  readonly violates: string | readonly string[];
  /** What is wrong with it, in one sentence. */
  readonly description: string;
  readonly versions: readonly CheckedVersion[];
  readonly transports?: readonly CheckedTransport[];
  readonly wire?: () => WireMutation;
  readonly agent?: (agent: Agent) => Agent;
  readonly definition?: Partial<AgentDefinition>;
  readonly server?: ServerOptions;
  /** Needs two callers that are told apart. */
  readonly requiresAuthentication?: boolean;
}

/** Declares broken agents, so that their types are looked at where they are written. */
export function defineMutants(agents: readonly MutantAgent[]): readonly MutantAgent[] {
  return agents;
}
