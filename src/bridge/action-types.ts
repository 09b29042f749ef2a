import type { Carrier } from '../tracing/tracing.ts';
import type { TaskState } from '../protocol/task.ts';
import type { NamedAgent } from './actions/bridged-agent.ts';

/** JSON Schema of action parameters or results. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** A skill of a remote agent as a function of the host application. */
export interface Action {
  /** `agent_name/skill_id`. */
  readonly name: string;
  readonly agentName: string;
  readonly skillId: string;
  /** Name of the skill. */
  readonly title: string;
  readonly description: string;
  readonly examples: readonly string[];
  readonly tags: readonly string[];
  /** Object schema: `prompt` or the parameters of the skill, and always `files`. */
  readonly parameters: JsonSchema;
  /** Schema of `data` in the response, if the skill declares one. */
  readonly output: JsonSchema | undefined;
  /** Media types that the skill accepts and produces. */
  readonly inputModes: readonly string[];
  readonly outputModes: readonly string[];
}

/** A file in the response of an action. */
export interface ActionFile {
  readonly name: string;
  readonly mediaType: string;
  /** `artifact://…` in the store of the bridge, or the URL that the agent returned. */
  readonly uri?: string;
  /** Content as base64, for small files if no store is configured. */
  readonly bytes?: string;
  readonly size?: number;
}

/** A file parameter: a URI that the bridge resolves, or the content as base64. */
export type FileParameter =
  | string
  | { readonly uri: string; readonly name?: string; readonly mediaType?: string }
  | { readonly bytes: string; readonly name: string; readonly mediaType?: string };

/** All results of a call. */
export const actionStatuses = [
  'COMPLETED',
  'FAILED',
  'REJECTED',
  'CANCELED',
  'INPUT_REQUIRED',
  'AUTH_REQUIRED',
  'RUNNING',
  'ERROR',
  'TIMEOUT',
] as const;

/** Result of a call: state of the task, or `ERROR` and `TIMEOUT` if the call itself failed. */
export type ActionStatus = (typeof actionStatuses)[number];

/** Response of every call. Errors are reported here instead of being thrown. */
export interface ActionResponse {
  readonly success: boolean;
  readonly status: ActionStatus;
  /** Text of the message and artifacts, or the error message. */
  readonly message: string;
  readonly files: readonly ActionFile[];
  /** Merged data parts. */
  readonly data: { readonly [key: string]: unknown };
  readonly errorInfo:
    | { readonly errorMessage: string; readonly code?: number; readonly hint?: string }
    | undefined;
  /** Pass it to `provide_required_input` to continue the task or to keep waiting. */
  readonly followUpId: string | undefined;
  readonly taskId: string | undefined;
  readonly contextId: string | undefined;
}

/** Progress of a running call. */
export interface ActionProgress {
  readonly taskId: string | undefined;
  readonly state: TaskState;
  /** Text of the status update or artifact. */
  readonly message: string;
  /** Number of progress reports of this call so far. */
  readonly count: number;
}

/** Options of {@link Bridge.invoke}. */
export interface ActionCallOptions {
  /** Calls of one session share a context. */
  readonly sessionId?: string;
  /** User whose files may be read and written. @defaultValue `default_user` */
  readonly userId?: string;
  /** Aborts the call and cancels the task. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: ActionProgress) => void;
  /** Minimum milliseconds between two progress reports; 0 reports all. @defaultValue the option of the bridge */
  readonly progressInterval?: number;
  /** Milliseconds to wait for a result before the call returns a follow-up ID. @defaultValue the option of the bridge */
  readonly waitBudget?: number;
  /** Headers with the trace of the caller (`traceparent`). @defaultValue the active OpenTelemetry span */
  readonly trace?: Carrier;
}

/** A message that continues a task or a context; without text, the call waits for the task. */
export interface ActionReply {
  readonly taskId?: string | undefined;
  readonly contextId?: string | undefined;
  readonly text: string;
  readonly files?: readonly FileParameter[] | undefined;
}

/** Exposes skills of remote agents as functions. */
export interface Bridge extends AsyncDisposable {
  /** Returns all actions, including `provide_required_input`. */
  actions(): readonly Action[];
  /** Describes the bridge in one sentence: the names of its agents and actions, as they are now. */
  describe(): string;
  /** Calls `listener` when actions were added, removed or changed. @returns a function that unsubscribes. */
  onChange(listener: () => void): () => void;
  /** Calls an action. Never rejects; errors are in the response. */
  invoke(
    name: string,
    parameters: { readonly [name: string]: unknown },
    options?: ActionCallOptions,
  ): Promise<ActionResponse>;
  /**
   * Sends text to a task that requires input or to a context, or waits for a running task, without a follow-up ID: the
   * caller keeps the ids of the response. Never rejects; errors are in the response.
   */
  reply(agentName: string, reply: ActionReply, options?: ActionCallOptions): Promise<ActionResponse>;
  /** Replaces the agents and refreshes all cards. */
  setAgents(agents: readonly NamedAgent[]): Promise<void>;
  close(): Promise<void>;
}
