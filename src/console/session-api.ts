import type { Part } from '../protocol/part.ts';
import type { TaskState } from '../protocol/task.ts';
import type { ChatEvent } from './console-api.ts';

/** A conversation in a list. */
export interface ConversationSummary {
  readonly id: string;
  readonly agentId: string;
  /** Title of the user, or the beginning of the first message. */
  readonly title: string;
  /** Time of the last message in milliseconds since 1970. */
  readonly at: number;
  /** State of the last task. */
  readonly state?: TaskState;
}

/** A message of the user with the events that the console received. */
export interface KeptTurn {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly input: readonly Part[];
  /** The task that the message continued. */
  readonly taskId?: string;
  /** Chunks that follow each other are joined. */
  readonly events: readonly ChatEvent[];
  /** Number of events that exceeded the limit. */
  readonly omitted: number;
  /** True until the last event. */
  readonly isRunning: boolean;
}

/** A conversation with its turns. */
export interface KeptConversation {
  readonly id: string;
  readonly agentId: string;
  readonly title: string;
  readonly turns: readonly KeptTurn[];
}

/** A recording of traffic. */
export interface RecordingEntry {
  readonly id: string;
  readonly name: string;
  /** Last change in milliseconds since 1970. */
  readonly at: number;
  /** Bytes. */
  readonly size: number;
  /** True for the recording of this console, which still grows. */
  readonly isLive: boolean;
}
