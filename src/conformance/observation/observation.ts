import type { Rule, Transport, Version } from '../rule-model.ts';
import type { Shadow } from './task-tracker.ts';
import type { Asking, Heard, Manner, Operation, Speech } from '../drivers/protocol-driver.ts';
import type { EventView, TaskView } from '../drivers/normalized-views.ts';
import type { Exchange, Frame } from '../wire/http-exchange.ts';

/** Something that came over the wire, whatever check it was for. */
export type Sighting = { readonly speech: Speech; readonly exchange: Exchange } & (
  | {
      /** An answer that is all there. */
      readonly kind: 'answer';
      readonly operation: Operation;
      readonly asking: Asking;
      readonly manner: Manner | undefined;
      readonly heard: Heard;
    }
  | {
      /** One event of a stream. */
      readonly kind: 'event';
      readonly operation: 'stream' | 'subscribe';
      readonly asking: Asking;
      readonly frame: Frame;
      readonly event: EventView;
      /** Its place in the stream, from 0. */
      readonly index: number;
    }
  | {
      /** A stream, once it is over. */
      readonly kind: 'stream';
      readonly operation: 'stream' | 'subscribe';
      readonly asking: Asking;
      readonly events: readonly EventView[];
      /** True when we did not leave it before its end. */
      readonly isWhole: boolean;
    }
  | {
      /** A task, wherever it was. */
      readonly kind: 'task';
      readonly task: TaskView;
      readonly from: Operation | 'push';
      /** What was known of it when it was asked for, if anything: answers overtake each other. */
      readonly shadow: Shadow | undefined;
    }
  | {
      /** A notification that arrived at our webhook. */
      readonly kind: 'push';
      readonly body: unknown;
      readonly event: EventView;
      /** The task that the webhook was registered for. */
      readonly taskId: string;
    }
);

/** A rule that every sighting must keep, whatever it was for. */
export interface Invariant extends Rule {
  readonly versions: readonly Version[];
  readonly transports?: readonly Transport[];
  /** @returns what is wrong, nothing when it holds, undefined when the rule is not about such a thing. */
  look(sighting: Sighting): readonly string[] | undefined;
}

/** Declares invariants, so that their types are looked at where they are written. */
export function defineInvariants(invariants: readonly Invariant[]): readonly Invariant[] {
  return invariants;
}
