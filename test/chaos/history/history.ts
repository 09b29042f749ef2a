/** What clients sent and were shown, and what the store contains afterwards. All times are of one clock. */

/** An event that a client was shown. */
export interface ShownEvent {
  /** Name of the subscription; it continues across connections. */
  readonly stream: string;
  readonly taskId: string;
  readonly sequence: number;
  /** See {@link digestOf}. */
  readonly digest: string;
  readonly at: number;
}

/** A subscription to a task. */
export interface ShownStream {
  readonly name: string;
  readonly taskId: string;
  /** The last sequence number that the client knew at the start. */
  readonly after: number;
  /** True if the client was shown the end of the task, or of the turn. */
  isComplete: boolean;
}

/** A task that a client was shown as a result of a request. */
export interface ShownTask {
  readonly taskId: string;
  /** State and texts of the task, as {@link LogView} computes them; undefined: "task not found". */
  readonly snapshot: string | undefined;
  /** When the request was sent. */
  readonly since: number;
}

/** A message, with the task that accepted it. */
export interface SentMessage {
  /** Undefined in 0.1, which has no message ids. */
  readonly messageId: string | undefined;
  readonly taskId: string;
}

/** What a task must have become. */
export interface ExpectedOutcome {
  readonly taskId: string;
  readonly state: string;
  readonly text: string;
  /** The other text that is allowed. */
  readonly orText?: string;
}

/** A webhook that an agent has accepted. */
export interface RegisteredWebhook {
  readonly path: string;
  readonly taskId: string;
  /** The last sequence number that may be left out. */
  readonly after: number;
  /** False before 1.0, when only status changes are delivered. */
  readonly hasArtifacts: boolean;
}

/** A notification that a webhook has accepted. */
export interface Delivery {
  readonly path: string;
  readonly taskId: string;
  readonly sequence: number;
}

/** Everything that the clients of one test wrote down. */
export class ChaosHistory {
  readonly events: ShownEvent[] = [];
  readonly streams: ShownStream[] = [];
  readonly tasks: ShownTask[] = [];
  readonly messages: SentMessage[] = [];
  readonly outcomes: ExpectedOutcome[] = [];
  readonly webhooks: RegisteredWebhook[] = [];
  readonly deliveries: Delivery[] = [];
}

/** One change in the log of a task, as it is stored. */
export interface LoggedChange {
  readonly kind: 'task' | 'status' | 'artifact' | 'input';
  readonly sequence: number;
  readonly status?: LoggedStatus;
  readonly task?: { readonly status: LoggedStatus; readonly history?: readonly LoggedMessage[] };
  readonly artifact?: { readonly artifactId: string; readonly parts: readonly LoggedPart[] };
  readonly append?: boolean;
  readonly message?: LoggedMessage;
}

interface LoggedPart {
  readonly text?: string;
}

interface LoggedMessage {
  readonly messageId: string;
  readonly parts: readonly LoggedPart[];
}

interface LoggedStatus {
  readonly state: string;
  readonly message?: LoggedMessage;
}

/** A write to the log of a task, or a change of its holder, in the order in which the database made them. */
export type AuditEntry =
  | { readonly kind: 'holder'; readonly process: string | undefined }
  | { readonly kind: 'write'; readonly sequence: number; readonly process: string };

/** A task in the store. */
export interface StoredLog {
  readonly id: string;
  readonly state: string;
  readonly sequence: number;
  readonly changes: readonly LoggedChange[];
  readonly audit: readonly AuditEntry[];
}

/** One execution of the process function, or of `resume`. */
export interface AgentRun {
  readonly kind: 'process' | 'resume';
  readonly taskId: string;
  readonly messageId: string;
}

/** The store and the runs of all processes, at the end. */
export interface FinalState {
  readonly logs: ReadonlyMap<string, StoredLog>;
  readonly runs: readonly AgentRun[];
}
