import type { Metrics } from '../metrics/metrics.ts';
import type { Agent, CallContext } from '../protocol/agent.ts';
import type { AgentCard, AgentExtension } from '../protocol/card.ts';
import type { Outage } from '../protocol/outage.ts';
import type { LogSink } from '../primitives/log.ts';
import type { TaskStore } from '../store/task-store.ts';
import type { PushOptions } from '../push/push-options.ts';
import type { Clock } from '../primitives/clock.ts';
import type { AgentOutput, AgentResult } from './agent-output.ts';
import type { ProcessContext } from './process-context.ts';
import type { SkillDefinition } from './skills/define-skill.ts';

export type { LogEntry } from '../primitives/log.ts';

/** Implementation of an agent: a generator that yields output, or a function that returns the result. */
export type ProcessFunction = (
  context: ProcessContext,
) => AsyncIterable<AgentOutput> | Iterable<AgentOutput> | Promise<AgentResult> | AgentResult;

/** Definition of an agent: its process function and the content of its card. */
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
  /**
   * Processes one message. If it throws, the task fails; the error is logged, and its message is sent to the client only
   * if it is an {@link A2AError}. May be omitted if a skill has a function of its own.
   */
  process?: ProcessFunction;
  /** Resumes a task that a restart interrupted. Without it and without `retry`, such a task fails. */
  resume?: ProcessFunction;
  /**
   * Runs {@link AgentDefinition.process} again for a task that a restart interrupted, if there is no `resume`. A task fails
   * when it has run `attempts` times and each time the process ended without a shutdown. Counted in shared task stores.
   * @defaultValue with `resume`: 10 attempts; without it no retry
   */
  retry?: { readonly attempts: number };
  /**
   * Allows {@link AgentDefinition.process} to reply with a direct message instead of a task. The task is created when
   * the process function first returns other output; until then clients cannot get it.
   * @defaultValue false: every message creates a task, and a returned message becomes the message of the last status
   */
  allowDirectReply?: boolean;
  /**
   * How the agent recognizes a repeated request, which it answers with the existing task: by the `Idempotency-Key` that the
   * client sent with both, or also by the id and the content of the message. Recognized as long as the task is stored.
   * @defaultValue `'key'`
   */
  idempotency?: 'key' | 'message-id';
  /** @defaultValue true */
  streaming?: boolean;
  /** @defaultValue false */
  pushNotifications?: boolean;
  extensions?: AgentExtension[];
  /** Members of the extended card for authenticated clients; they override those of the card. */
  extendedCard?:
    | Partial<AgentCard>
    | ((call: CallContext) => Partial<AgentCard> | Promise<Partial<AgentCard>>);
}

/** Options of `defineAgent()`. All options are optional. */
export interface AgentOptions {
  /** @defaultValue a task store in memory */
  taskStore?: TaskStore;
  /** @defaultValue errors are written to standard error, with their stacks */
  log?: LogSink;
  /** Counts task states, runs and deliveries. @defaultValue no metrics */
  metrics?: Metrics;
  /**
   * Creates an OpenTelemetry span for each run.
   * @defaultValue true if OpenTelemetry was set up before the agent was created
   */
  tracing?: boolean;
  /**
   * Idle timeout: milliseconds without output after which a running task fails; 0 disables it.
   * @defaultValue 15 minutes
   */
  idleTimeout?: number;
  /**
   * Milliseconds after which a run fails, with or without output; 0 disables it.
   * @defaultValue 0
   */
  deadline?: number;
  /**
   * Resumes or fails unfinished tasks of the task store at startup. If the task store is shared with other processes: at any
   * time the tasks of those that have ended. Disable it if different agents share a task store.
   * @defaultValue true
   */
  recoverTasks?: boolean;
  /** Maximum number of push configurations of one task. @defaultValue 10 */
  maxPushConfigs?: number;
  /** Options of push notification delivery. */
  push?: PushOptions;
  /** @defaultValue the system clock */
  clock?: Pick<Clock, 'now' | 'monotonic' | 'every'>;
  /** Generates task, context, message and artifact ids. @defaultValue UUIDv7 */
  generateId?: () => string;
}

/** An agent that runs in this process. */
export interface LocalAgent extends Agent, AsyncDisposable {
  /** Arguments of `defineAgent()`, for example to run the agent with other options. */
  readonly definition: AgentDefinition;
  readonly options: AgentOptions;
  ready(): Promise<void>;
  outage(): Outage | undefined;
  close(): Promise<void>;
}
