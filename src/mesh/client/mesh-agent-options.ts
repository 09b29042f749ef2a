import type { AgentCard } from '../../protocol/card.ts';
import type { LogSink } from '../../primitives/log.ts';
import type { Clock } from '../../primitives/clock.ts';
import type { MeshDirectory } from '../mesh-directory.ts';
import type { BrokerConnection, MessageProperty } from '../brokers/broker-connection.ts';

/** How to reach an agent that lives on the mesh. Only the first three have no default. */
export interface MeshAgentOptions {
  readonly broker: BrokerConnection;
  readonly namespace: string;
  /** The name of the agent on the mesh. */
  readonly name: string;
  /** The name under which answers come back, unique on the mesh. @defaultValue one of its own */
  readonly gatewayId?: string;
  /** Asks as an agent that delegates, instead of as a gateway. */
  readonly peer?: {
    /** The agent that delegates. */
    readonly name: string;
    /** How many delegated before. Brokers that know only text carry it as text, which some agents refuse. */
    readonly callDepth?: number;
  };
  /** Whose requests these are when nobody proved to be anybody. @defaultValue `default_user` */
  readonly user?: string;
  /** What agents should know of the user. */
  readonly userConfig?: { readonly [name: string]: MessageProperty };
  /** What to speak. @defaultValue what the card tells, mostly 0.3 */
  readonly version?: '0.1' | '0.3' | '1.0';
  /** The card, where it need not be discovered. */
  readonly card?: AgentCard;
  /** Who is on the mesh, where somebody listens already. @defaultValue one of its own */
  readonly directory?: MeshDirectory;
  readonly timeouts?: Partial<MeshAgentTimeouts>;
  readonly limits?: {
    /** Tasks that are remembered. @defaultValue 1000 */
    readonly tasks?: number;
    /** How long they are, in milliseconds. @defaultValue 3 600 000 */
    readonly age?: number;
    /** Events that wait for a reader; beyond it gets the task as it stands. @defaultValue 1000 */
    readonly events?: number;
  };
  readonly clock?: Clock;
  /** Makes ids of tasks and contexts. @defaultValue UUIDs */
  readonly newId?: () => string;
  readonly log?: LogSink;
}

/** How long to wait, in milliseconds. */
export interface MeshAgentTimeouts {
  /** For an agent that nobody has heard of yet. @defaultValue 25 000 */
  readonly discovery: number;
  /** For a sign of life. @defaultValue 300 000 */
  readonly idle: number;
  /** For the end of a task that is being canceled; then it is shown as it stands. @defaultValue 10 000 */
  readonly cancel: number;
}
