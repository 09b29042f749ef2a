import type { Metrics } from '../metrics/metrics.ts';
import type { CallContext } from '../protocol/agent.ts';
import type { AgentCard, AgentExtension, AgentSkill } from '../protocol/card.ts';
import type { LogSink } from '../primitives/log.ts';
import type { TaskStore } from '../store/task-store.ts';
import type { PushOptions } from '../push/push-options.ts';
import type { IntervalClock } from './interval-clock.ts';
import type { AgentOutput, AgentResult } from './agent-output.ts';
import type { ProcessContext } from './process-context.ts';

export type { LogEntry } from '../primitives/log.ts';

/** A skill; description and tags may be left out. */
export type SkillDefinition = Pick<AgentSkill, 'id'> & Partial<AgentSkill>;

/** The work of an agent: an async generator that yields as it goes, or a function that returns when it is done. */
export type ProcessFunction = (
  context: ProcessContext,
) => AsyncIterable<AgentOutput> | Iterable<AgentOutput> | Promise<AgentResult> | AgentResult;

/** What makes an agent. */
export interface AgentDefinition
  extends Partial<
    Pick<
      AgentCard,
      | 'version'
      | 'provider'
      | 'documentationUrl'
      | 'iconUrl'
      | 'securitySchemes'
      | 'securityRequirements'
      | 'defaultInputModes'
      | 'defaultOutputModes'
    >
  > {
  name: string;
  description: string;
  skills?: SkillDefinition[];
  /** Does the work for one message. Whatever it throws ends the task as failed; the cause is logged, not shown. */
  process: ProcessFunction;
  /**
   * Takes up a task that a restart interrupted. Without it such a task ends as failed, with a reason.
   */
  resume?: ProcessFunction;
  /**
   * Lets {@link AgentDefinition.process} answer with a plain message and no task: the task is made only when it
   * first gives something else. Such a task cannot be asked for before.
   * @defaultValue false: every message makes a task, and a message it returns is said with the last status
   */
  allowDirectReply?: boolean;
  /** @defaultValue true */
  streaming?: boolean;
  /** @defaultValue false */
  pushNotifications?: boolean;
  extensions?: AgentExtension[];
  /** What callers that are known see instead of the card, or beside it. */
  extendedCard?:
    | Partial<AgentCard>
    | ((call: CallContext) => Partial<AgentCard> | Promise<Partial<AgentCard>>);
}

/** Where an agent lives and how long it may take. */
export interface AgentOptions {
  /** @defaultValue a ledger in memory */
  taskStore?: TaskStore;
  /** @defaultValue nobody listens */
  log?: LogSink;
  /** Counts what becomes of tasks. @defaultValue nobody counts */
  metrics?: Metrics;
  /**
   * Puts each run into a span of OpenTelemetry.
   * @defaultValue true where OpenTelemetry was set up before the agent was made
   */
  tracing?: boolean;
  /**
   * For how many milliseconds a running task may be silent before it ends as failed; 0 for ever.
   * @defaultValue 15 minutes
   */
  idleTimeout?: number;
  /**
   * For how many milliseconds a task may run in one go before it ends as failed; 0 for ever.
   * @defaultValue 0
   */
  deadline?: number;
  /**
   * Ends or resumes, at the start, the tasks that the ledger says are running. Turn it off where several agents share
   * a ledger.
   * @defaultValue true, unless other processes share the ledger
   */
  recoverTasks?: boolean;
  /** How many push configurations one task may have. @defaultValue 10 */
  maxPushConfigs?: number;
  /** How push notifications are sent. */
  push?: PushOptions;
  clock?: IntervalClock;
  /** Makes ids. @defaultValue UUIDs that sort by time */
  generateId?: () => string;
}
