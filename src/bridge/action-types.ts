import type { TaskState } from '../protocol/task.ts';
import type { NamedAgent } from './actions/bridged-agent.ts';

/** A JSON Schema. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** Something that a remote agent can do, as a function of the host application. */
export interface Action {
  /** `agent_name/skill_id`. */
  readonly name: string;
  readonly agentName: string;
  readonly skillId: string;
  /** What the skill is called. */
  readonly title: string;
  readonly description: string;
  readonly examples: readonly string[];
  readonly tags: readonly string[];
  /** An object: `prompt` or what the skill names, and always `files`. */
  readonly parameters: JsonSchema;
  /** What comes back as `data`, where the skill says so. */
  readonly output: JsonSchema | undefined;
  /** The media types that the skill takes and gives. */
  readonly inputModes: readonly string[];
  readonly outputModes: readonly string[];
}

/** A file that goes to an agent or comes from one. */
export interface ActionFile {
  readonly name: string;
  readonly mediaType: string;
  /** Where it is: `artifact://…` in the store of the bridge, or wherever the agent says. */
  readonly uri?: string;
  /** The content as base64, where it is small and no store was given. */
  readonly bytes?: string;
  readonly size?: number;
}

/** A file parameter: an address that the bridge resolves, or the content itself. */
export type FileParameter =
  | string
  | { readonly uri: string; readonly name?: string; readonly mediaType?: string }
  | { readonly bytes: string; readonly name: string; readonly mediaType?: string };

/** How a call ended, or why it did not. */
export type ActionStatus =
  | 'COMPLETED'
  | 'FAILED'
  | 'REJECTED'
  | 'CANCELED'
  | 'INPUT_REQUIRED'
  | 'AUTH_REQUIRED'
  | 'RUNNING'
  | 'ERROR'
  | 'TIMEOUT';

/** The one shape of every answer. Nothing is thrown. */
export interface ActionResponse {
  readonly success: boolean;
  readonly status: ActionStatus;
  /** The texts of the answer and of its artifacts, or what went wrong. */
  readonly message: string;
  readonly files: readonly ActionFile[];
  /** The data parts, merged. */
  readonly data: { readonly [key: string]: unknown };
  readonly errorInfo:
    | { readonly errorMessage: string; readonly code?: number; readonly hint?: string }
    | undefined;
  /** What `provide_required_input` takes to go on, or to wait further. */
  readonly followUpId: string | undefined;
  readonly taskId: string | undefined;
  readonly contextId: string | undefined;
}

/** News from a call that goes on. */
export interface ActionProgress {
  readonly taskId: string | undefined;
  readonly state: TaskState;
  /** What the agent said with it. */
  readonly message: string;
  /** Counts up with each. */
  readonly count: number;
}

/** What travels with a call beside its parameters. */
export interface ActionCallOptions {
  /** Calls of one session share a context. */
  readonly sessionId?: string;
  /** Whose files may be read and written. @defaultValue `default_user` */
  readonly userId?: string;
  /** Ends the call and cancels the task. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: ActionProgress) => void;
  /** Milliseconds between two pieces of progress; 0 tells everything. @defaultValue as the bridge says */
  readonly progressInterval?: number;
  /** For how many milliseconds an answer is waited for before the call gives a handle to go on with. */
  readonly waitBudget?: number;
}

/** Skills of remote agents as functions. */
export interface Bridge extends AsyncDisposable {
  /** All actions, `provide_required_input` included. */
  actions(): readonly Action[];
  /** Calls back when skills came, went or changed. @returns what stops it. */
  onChange(changed: () => void): () => void;
  /** Calls an action. Whatever happens is in the response. */
  invoke(
    name: string,
    parameters: { readonly [name: string]: unknown },
    meta?: ActionCallOptions,
  ): Promise<ActionResponse>;
  /** Goes over to other agents: those that are not among them are let go of, and all cards are looked at. */
  setAgents(agents: readonly NamedAgent[]): Promise<void>;
  close(): Promise<void>;
}
