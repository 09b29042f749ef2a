import type { Precondition } from '../check.ts';
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

/** One response, event, stream, task or notification that the suite received, regardless of the running check. */
export type Observation = { readonly driver: ProtocolDriver; readonly exchange: HttpExchange } & (
  | {
      /** A complete response. */
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
      /** Zero-based position in the stream. */
      readonly index: number;
    }
  | {
      /** A finished stream. */
      readonly kind: 'stream';
      readonly operation: 'stream' | 'subscribe';
      readonly input: OperationInput;
      readonly events: readonly NormalizedEvent[];
      /** True if the server ended the stream, false if the suite aborted it or it broke. */
      readonly isComplete: boolean;
    }
  | {
      /** A task in any response, event or notification. */
      readonly kind: 'task';
      readonly task: NormalizedTask;
      readonly from: DriverOperation | 'push';
      /** State of the task when the request was sent, because responses can arrive out of order. */
      readonly trackedTask: TrackedTask | undefined;
    }
  | {
      /** A notification that a webhook of the suite received. */
      readonly kind: 'push';
      readonly body: unknown;
      readonly event: NormalizedEvent;
      /** The task for which the webhook was registered. */
      readonly taskId: string;
    }
);

/** A rule that is evaluated on every observation. */
export interface Invariant extends ConformanceRule {
  readonly versions: readonly CheckedVersion[];
  readonly transports?: readonly CheckedTransport[];
  /** What the card declares if there are observations. Without it, a rule without observations does not apply. */
  readonly preconditions?: readonly Precondition[];
  /** @returns the violations, an empty list if the rule holds, undefined if it does not apply to the observation. */
  check(observation: Observation): readonly string[] | undefined;
}

/** Defines a group of invariants that share category, versions and preconditions. An invariant can override them. */
export function defineInvariants(
  defaults: Pick<Invariant, 'category' | 'versions' | 'preconditions'>,
  invariants: readonly (Omit<Invariant, 'category' | 'versions'> & Partial<Invariant>)[],
): readonly Invariant[] {
  return invariants.map((invariant) => ({ ...defaults, ...invariant }));
}
