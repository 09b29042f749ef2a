import type { Principal } from '../../protocol/agent.ts';
import type { ProtocolVersion } from '../../protocol/card.ts';
import type { Message } from '../../protocol/message.ts';
import type { Metadata } from '../../protocol/part.ts';
import type { Artifact, Task, TaskStatus } from '../../protocol/task.ts';
import type { Fault } from '../faults/fault.ts';

/** A message to a test agent, with everything that a rule may look at. */
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
  readonly transport: 'JSONRPC' | 'HTTP+JSON' | undefined;
  /** Lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly principal: Principal | undefined;
  /** The task that the message goes on with. */
  readonly task: Task | undefined;
  /** What the conversation is known by: its task, else its context; undefined in a new one. */
  readonly contextId: string | undefined;
  /** How many messages of the conversation came before: by task, else by context. */
  readonly turn: number;
}

/** An event to play. Ids are filled in while it is played. */
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
      /** What a version that says so said; undefined where nobody did. */
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

/** What is only known while an event is played. */
export interface PlaybackContext {
  readonly taskId: string;
  readonly contextId: string;
  /** Milliseconds since 1970, by the clock of the test agent. */
  readonly now: number;
}

/** One thing that a test agent does. */
export type PlanStep =
  | { readonly kind: 'event'; readonly event: ScriptedEvent }
  /** An event that is made when its turn has come, as one that speaks of the task by its id. Called once. */
  | {
      readonly kind: 'event';
      readonly make: (moment: PlaybackContext) => ScriptedEvent;
      /** What it will be, where that is known: a message needs no task, and a task no other beginning. */
      readonly of?: ScriptedEvent['kind'];
    }
  | { readonly kind: 'delay'; readonly milliseconds: number };

/** What the first event of a list is going to be. */
export function firstEventKind(steps: readonly PlanStep[]): ScriptedEvent['kind'] | undefined {
  const first = steps.find((step) => step.kind === 'event');
  return first && ('make' in first ? first.of : first.event.kind);
}

/** What a test agent does about one message. */
export interface ResponsePlan {
  readonly steps: readonly PlanStep[];
  readonly faults: readonly Fault[];
  /**
   * What happens when nothing is left to play and the task is neither ended nor waiting: it is completed, or the
   * stream just ends and the task stays as it is.
   */
  readonly ending: 'complete' | 'hang-up';
  /** Where the plan came from, in words, for the journal. */
  readonly origin: string;
  /** The rules that came closest, where no rule matched and the script says what is done otherwise. */
  readonly nearMisses?: readonly NearMiss[];
}

/** Why a rule did not match, closest first. */
export interface NearMiss {
  readonly rule: string;
  /** One line for each condition that failed, such as `text: expected to contain "hello", was "hi"`. */
  readonly differences: readonly string[];
  /** How many conditions held. */
  readonly matched: number;
}

/** Nobody knows what to do about a message. */
export interface UnmatchedMessage {
  readonly nearMisses: readonly NearMiss[];
}

/** Decides what a test agent does about a message. */
export interface Responder {
  /** @returns undefined when the message is not for this director. */
  decide(incoming: ReceivedMessage): ResponsePlan | UnmatchedMessage | undefined;
  /** Forgets every conversation, counter and state. */
  reset(): void;
}
