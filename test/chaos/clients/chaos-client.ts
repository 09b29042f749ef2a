/** A task as every version can express it. */
export interface SeenTask {
  readonly id: string;
  readonly state: string;
  /** The texts of all artifacts. */
  readonly text: string;
}

/** An event of a stream as every version can express it. */
export interface SeenEvent {
  readonly taskId: string;
  readonly sequence: number;
  readonly digest: string;
  /** The state of the task, if the event contains it. */
  readonly state: string | undefined;
}

/** A message of a client. */
export interface ChaosMessage {
  readonly text: string;
  readonly messageId: string;
  /** The task that the message continues; in 0.1 also the id of a new task. */
  readonly taskId?: string;
  readonly returnImmediately?: boolean;
  readonly webhook?: string;
}

/** Error of a request, with what the client may conclude. */
export class ChaosRequestError extends Error {
  /** True if the agent responded that the task does not exist. */
  readonly isNotFound: boolean;
  /** True if the request failed because of a fault; a repetition can succeed. */
  readonly isTemporary: boolean;

  constructor(message: string, { isNotFound = false, isTemporary = false } = {}) {
    super(message);
    this.isNotFound = isNotFound;
    this.isTemporary = isTemporary;
  }
}

/** A client of one version and transport. Every call is one attempt, at any replica. */
export interface ChaosClient {
  readonly name: string;
  readonly version: string;
  send(message: ChaosMessage): Promise<SeenTask>;
  stream(message: ChaosMessage): AsyncIterable<SeenEvent>;
  get(id: string): Promise<SeenTask>;
  cancel(id: string): Promise<SeenTask>;
  subscribe(id: string, after: number): AsyncIterable<SeenEvent>;
  close(): Promise<void>;
}
