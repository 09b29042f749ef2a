import type { AgentHttpHandler } from '../http/agent-http-handler.ts';

/** Metadata that names the agent of a call on a server with several agents. */
export const agentMetadata = 'dragoman-agent';

/** What a call says about its agent. */
export interface GrpcAgentName {
  /** Path of the method. */
  readonly path: string;
  /** Metadata {@link agentMetadata}. */
  readonly agent: string | undefined;
  /** Field `tenant` of the message. */
  readonly tenant: string | undefined;
  /** Host and port of the server, as the client knows them. */
  readonly host: string | undefined;
}

/** The agent of a call. */
export interface GrpcAgentTarget {
  readonly handler: AgentHttpHandler;
  /** Tenant of the call, without the name of the agent. */
  readonly tenant: string | undefined;
  /** Must be called when the call starts. */
  requestStarted(): void;
  /** Must be called when the call has ended. */
  requestEnded(): void;
}

/** Agents that a server exposes over gRPC. */
export interface GrpcAgents {
  /** Returns the handler that admits and authenticates a call, by the path of its method. */
  handlerFor(path: string): AgentHttpHandler | undefined;
  /**
   * Finds the agent of a call on a server with several agents, when the message has been read.
   * @defaultValue the agent of `handlerFor`
   */
  readonly agentFor?: ((named: GrpcAgentName) => GrpcAgentTarget | undefined) | undefined;
  /** True while the server accepts calls. */
  isReady(): boolean;
}
