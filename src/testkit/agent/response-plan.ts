import type { Principal } from '../../protocol/agent.ts';
import type { ProtocolVersion, Transport } from '../../protocol/card.ts';
import type { Message } from '../../protocol/message.ts';
import type { Metadata } from '../../protocol/part.ts';
import type { Artifact, Task, TaskStatus } from '../../protocol/task.ts';
import type { Fault } from '../faults/fault.ts';

/** A message to a test agent, with all properties that a rule can match. */
export interface ReceivedMessage {
  readonly operation: 'send' | 'stream';
  readonly message: Message;
  /** The text parts, joined by line breaks. */
  readonly text: string;
  /** The metadata of the request. */
  readonly metadata: Metadata | undefined;
  /** The skill that the message names in its metadata (`skill`, `skillId` or `skill_id`). */
  readonly skill: string | undefined;
  readonly version: ProtocolVersion | undefined;
  readonly transport: Transport | undefined;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly principal: Principal | undefined;
  /** The task that the message continues. */
  readonly task: Task | undefined;
  /** Context of the task or of the message; undefined in a new conversation. */
  readonly contextId: string | undefined;
  /** Number of earlier messages of the task, else of the context. */
  readonly turn: number;
}

/** An event written by a test. Ids are assigned during playback. */
export type ScriptedEvent =
  | {
      readonly kind: 'task';
      readonly status: TaskStatus;
      readonly artifacts?: readonly Artifact[];
      readonly metadata?: Metadata;
    }
  | {
      readonly kind: 'status';
      readonly status: TaskStatus;
      /** The `final` field of versions before 1.0. */
      readonly final?: boolean;
      readonly metadata?: Metadata;
    }
  | {
      readonly kind: 'artifact';
      readonly artifact: Artifact;
      readonly append?: boolean;
      readonly lastChunk?: boolean;
      readonly metadata?: Metadata;
    }
  | { readonly kind: 'message'; readonly message: Message };

/** Values that are known only during playback. */
export interface PlaybackContext {
  readonly taskId: string;
  readonly contextId: string;
  /** Milliseconds since 1970, by the clock of the test agent. */
  readonly now: number;
}

/** One step of a response plan. */
export type PlanStep =
  | { readonly kind: 'event'; readonly event: ScriptedEvent }
  /** An event that is created during playback, for example because it contains the task id. Called once. */
  | {
      readonly kind: 'event';
      readonly create: (context: PlaybackContext) => ScriptedEvent;
      /** Kind of the event, if known in advance: a message needs no task, and a task event replaces the initial task. */
      readonly eventKind?: ScriptedEvent['kind'];
    }
  | { readonly kind: 'delay'; readonly milliseconds: number };

/** Returns the kind of the first event, or undefined if it is not known in advance. */
export function firstEventKind(steps: readonly PlanStep[]): ScriptedEvent['kind'] | undefined {
  const first = steps.find((step) => step.kind === 'event');
  return first && ('create' in first ? first.eventKind : first.event.kind);
}

/** Response of a test agent to one message. */
export interface ResponsePlan {
  readonly steps: readonly PlanStep[];
  readonly faults: readonly Fault[];
  /**
   * What happens after the last step if the task is neither terminal nor interrupted: `complete` completes it,
   * `abandon` closes the stream and leaves the task in its state.
   */
  readonly ending: 'complete' | 'abandon';
  /** Source of the plan, such as the name of a rule, for the journal. */
  readonly origin: string;
  /** The closest rules, if no rule matched and the fallback of the script is played. */
  readonly nearMisses?: readonly NearMiss[];
}

/** A rule that did not match, with the reasons. */
export interface NearMiss {
  readonly rule: string;
  /** One line per failed condition, such as `text: expected to contain "hello", was "hi"`. */
  readonly mismatches: readonly string[];
  /** Number of fulfilled conditions. */
  readonly matched: number;
}

/** Result for a message that no rule matches. */
export interface UnmatchedMessage {
  readonly nearMisses: readonly NearMiss[];
}

/** Creates the response plan of a message. */
export interface Responder {
  /** @returns undefined if this responder does not handle the message. */
  decide(received: ReceivedMessage): ResponsePlan | UnmatchedMessage | undefined;
  /** Resets all conversations, counters and state. */
  reset(): void;
}
