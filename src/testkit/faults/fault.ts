/** A number of milliseconds, or a uniform or normal distribution of it. */
export type Duration =
  | number
  | { readonly min: number; readonly max: number }
  | { readonly mean: number; readonly deviation: number };

/** Conditions under which a fault is injected. */
interface FaultTrigger {
  /** Maximum number of injections. @defaultValue unlimited */
  readonly times?: number;
  /** From 0 to 1. @defaultValue 1 */
  readonly probability?: number;
  /** Affected responses: of operations, of card requests, or both. @defaultValue `message` */
  readonly on?: 'message' | 'card' | 'any';
}

/**
 * A fault that is injected into a response. `after` is the number of stream events that are sent before the fault; its
 * default depends on the kind. A response that is not a stream counts as one event, regardless of `after`.
 */
export type Fault = FaultTrigger &
  (
    | {
        readonly kind: 'http';
        readonly status: number;
        readonly headers?: Readonly<Record<string, string>>;
        /** A string is sent as it is, other values as JSON. */
        readonly body?: unknown;
      }
    | { readonly kind: 'unauthorized'; readonly challenge?: string }
    | {
        readonly kind: 'rate-limit';
        /** Value of the `Retry-After` header: seconds or a date. */
        readonly retryAfter: number | string;
      }
    | { readonly kind: 'redirect'; readonly status: number; readonly location?: string }
    | { readonly kind: 'delay'; readonly duration: Duration }
    | { readonly kind: 'content-type'; readonly type: string }
    /** Invalid UTF-8 inside an event. @defaultValue after 0 */
    | { readonly kind: 'bad-utf8'; readonly after?: number }
    /** Pads an event or a response to a number of bytes. @defaultValue after 0 */
    | { readonly kind: 'oversize'; readonly bytes: number; readonly after?: number }
    /** Half of an event, then a regular end of the response. @defaultValue after 1 */
    | { readonly kind: 'half-frame'; readonly after?: number }
    /** Closes the connection; with `after: 0` before the response head. @defaultValue after 1 */
    | { readonly kind: 'disconnect'; readonly after?: number }
    /** Ends the stream regularly before the task ends. @defaultValue before the terminal event */
    | { readonly kind: 'early-end'; readonly after?: number }
    /** Sends nothing more and keeps the connection open. @defaultValue after 1 */
    | { readonly kind: 'stall'; readonly after?: number }
    /** Sends only heartbeats. @defaultValue after 1, every 1,000 milliseconds */
    | { readonly kind: 'heartbeats'; readonly after?: number; readonly every?: number }
    /** Sends an event twice. @defaultValue event 2 */
    | { readonly kind: 'duplicate'; readonly event?: number }
    /** Swaps an event with its successor. @defaultValue event 2 */
    | { readonly kind: 'reorder'; readonly event?: number }
    /** Sends a chunk of an unknown artifact before the terminal event. */
    | { readonly kind: 'wrong-append' }
    /** Sends a working status after the terminal event. */
    | { readonly kind: 'after-terminal' }
    /** Resets the connection (TCP RST). @defaultValue after 0, before the response head */
    | { readonly kind: 'reset'; readonly after?: number }
    /** Resets the connection and refuses new ones, for a number of milliseconds or permanently. */
    | { readonly kind: 'refuse'; readonly duration?: number }
    /** Replaces fields of the card; `null` removes a field. */
    | { readonly kind: 'card'; readonly override: Readonly<Record<string, unknown>> }
  );
