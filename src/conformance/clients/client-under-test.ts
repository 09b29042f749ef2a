/** Operations that a client can be told to perform. */
export const clientOperations = [
  'send',
  'stream',
  'converse',
  'get',
  'list',
  'cancel',
  'subscribe',
  'push',
  'extended-card',
] as const;

/** An operation that a client can be told to perform. */
export type ClientOperation = (typeof clientOperations)[number];

/** Instructions of the suite for a client. A client may ignore all members except the URL. */
export interface ClientInstruction {
  /** URL of the agent, without a path. */
  readonly url: string;
  readonly operation: ClientOperation;
  /** Text of the message to send. */
  readonly text: string;
  /** Text of the second message of `converse`, sent when the task asks for input. */
  readonly reply: string;
  /** Id of the task of `get`, `cancel` and `subscribe`. */
  readonly taskId: string;
  /** Bearer token for the agent. */
  readonly token: string;
}

/** How a client ended. */
export interface ClientExit {
  /** Undefined if the client was ended by a signal. */
  readonly code: number | undefined;
  readonly signal?: string;
  /** True if the client was ended because it reached the time limit. */
  readonly isTimeout: boolean;
  /** The start of the standard output. */
  readonly stdout: string;
  /** The start of the standard error. */
  readonly stderr: string;
}

/** A client that the suite tests: a command, or a function in the same process. */
export interface ClientUnderTest {
  /** Name for reports. */
  readonly name: string;
  /** Command line for reports, with its placeholders. */
  readonly command: string;
  /** Operations to try. `send` is always tried. */
  readonly operations: readonly ClientOperation[];
  /** True if the client is known to use the token of an instruction. */
  readonly takesToken?: boolean;
  /** Performs the operation. It ends soon after the signal is aborted and never rejects. */
  run(instruction: ClientInstruction, signal: AbortSignal): Promise<ClientExit>;
}
