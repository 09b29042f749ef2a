import type { AgentCard } from '../../protocol/card.ts';
import type { LogSink } from '../../primitives/log.ts';
import type { Clock } from '../../primitives/clock.ts';
import type { MeshDirectory } from '../mesh-directory.ts';
import type { MeshRegister } from '../sharing/mesh-register.ts';
import type { BrokerConnection, MessageProperty } from '../brokers/broker-connection.ts';

/** Options of {@link meshAgent}. `broker`, `namespace` and `name` are required. */
export interface MeshAgentOptions {
  readonly broker: BrokerConnection;
  readonly namespace: string;
  /** Name of the agent on the mesh. */
  readonly name: string;
  /** Unique name of this client on the mesh, in the topics of responses. @defaultValue a generated name */
  readonly gatewayId?: string;
  /** Calls the agent as a delegating agent instead of a gateway. */
  readonly peer?: {
    /** Name of the delegating agent. */
    readonly name: string;
    /** Number of delegations so far. Brokers that support only text send it as text, which some agents reject. */
    readonly callDepth?: number;
  };
  /** User of calls without a principal. @defaultValue `default_user` */
  readonly user?: string;
  /** Information about the user for the agent. */
  readonly userConfig?: { readonly [name: string]: MessageProperty };
  /** Protocol version. @defaultValue the version in the card, usually 0.3 */
  readonly version?: '0.1' | '0.3' | '1.0';
  /** Agent card, if it need not be discovered. */
  readonly card?: AgentCard;
  /** Shared directory. @defaultValue a directory of its own */
  readonly directory?: MeshDirectory;
  readonly timeouts?: Partial<MeshAgentTimeouts>;
  readonly limits?: {
    /** Maximum number of remembered tasks. @defaultValue 1000 */
    readonly tasks?: number;
    /** Milliseconds for which tasks are remembered. @defaultValue 3 600 000 */
    readonly age?: number;
    /** Maximum number of buffered events per subscriber; beyond it, it receives a task snapshot. @defaultValue 1000 */
    readonly events?: number;
  };
  /**
   * Remembers tasks for all clients of the agent, such as gateways behind a load balancer.
   * @defaultValue this client remembers them
   */
  readonly register?: MeshRegister | undefined;
  /**
   * Creates OpenTelemetry spans for requests and responses and propagates the trace in their properties.
   * @defaultValue true if OpenTelemetry was set up before
   */
  readonly tracing?: boolean | undefined;
  readonly clock?: Clock;
  /** Generates ids of tasks and contexts. @defaultValue UUIDs */
  readonly newId?: () => string;
  readonly log?: LogSink;
}

/** Timeouts in milliseconds. */
export interface MeshAgentTimeouts {
  /** Until the agent is discovered. @defaultValue 25 000 */
  readonly discovery: number;
  /** Idle timeout: maximum time without a message from the agent. @defaultValue 300 000 */
  readonly idle: number;
  /** Until a canceled task ends; then its current state is returned. @defaultValue 10 000 */
  readonly cancel: number;
}
