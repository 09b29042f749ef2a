import type { ConformanceRule, CheckedTransport, CheckedVersion } from '../rule-model.ts';
import type { TrackedTask } from './task-tracker.ts';
import type {
  OperationInput,
  DecodedResponse,
  RequestOverrides,
  DriverOperation,
  ProtocolDriver,
} from '../drivers/protocol-driver.ts';
import type { NormalizedEvent, NormalizedTask } from '../drivers/normalized-views.ts';
import type { HttpExchange, RawFrame } from '../wire/http-exchange.ts';

/** Something that came over the wire, whatever check it was for. */
export type Observation = { readonly driver: ProtocolDriver; readonly exchange: HttpExchange } & (
  | {
      /** An answer that is all there. */
      readonly kind: 'response';
      readonly operation: DriverOperation;
      readonly input: OperationInput;
      readonly overrides: RequestOverrides | undefined;
      readonly response: DecodedResponse;
    }
  | {
      /** One event of a stream. */
      readonly kind: 'event';
      readonly operation: 'stream' | 'subscribe';
      readonly input: OperationInput;
      readonly frame: RawFrame;
      readonly event: NormalizedEvent;
      /** Its place in the stream, from 0. */
      readonly index: number;
    }
  | {
      /** A stream, once it is over. */
      readonly kind: 'stream';
      readonly operation: 'stream' | 'subscribe';
      readonly input: OperationInput;
      readonly events: readonly NormalizedEvent[];
      /** True when we did not leave it before its end. */
      readonly isComplete: boolean;
    }
  | {
      /** A task, wherever it was. */
      readonly kind: 'task';
      readonly task: NormalizedTask;
      readonly from: DriverOperation | 'push';
      /** What was known of it when it was asked for, if anything: answers overtake each other. */
      readonly trackedTask: TrackedTask | undefined;
    }
  | {
      /** A notification that arrived at our webhook. */
      readonly kind: 'push';
      readonly body: unknown;
      readonly event: NormalizedEvent;
      /** The task that the webhook was registered for. */
      readonly taskId: string;
    }
);

/** A rule that every sighting must keep, whatever it was for. */
export interface Invariant extends ConformanceRule {
  readonly versions: readonly CheckedVersion[];
  readonly transports?: readonly CheckedTransport[];
  /** @returns what is wrong, nothing when it holds, undefined when the rule is not about such a thing. */
  check(sighting: Observation): readonly string[] | undefined;
}

/** Declares invariants, so that their types are looked at where they are written. */
export function defineInvariants(invariants: readonly Invariant[]): readonly Invariant[] {
  return invariants;
}
