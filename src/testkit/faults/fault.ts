/** A number of milliseconds, or a way to draw one. */
export type Duration =
  | number
  | { readonly min: number; readonly max: number }
  | { readonly mean: number; readonly deviation: number };

/** When a fault strikes. */
interface Occasion {
  /** How often in all it goes wrong, for ever when absent. */
  readonly times?: number;
  /** How probable it is, from 0 to 1. @defaultValue 1 */
  readonly chance?: number;
  /** Which answers go wrong: to operations, such as a message, or to who asks for the card. @defaultValue `message` */
  readonly on?: 'message' | 'card' | 'any';
}

/**
 * What goes wrong with one answer. `after` counts the events of a stream that pass first; what it is when absent stands
 * beside each. An answer that is no stream counts as one event, whatever `after` says.
 */
export type Fault = Occasion &
  (
    | {
        readonly kind: 'http';
        readonly status: number;
        readonly headers?: Readonly<Record<string, string>>;
        /** Text as it is; anything else as JSON. */
        readonly body?: unknown;
      }
    | { readonly kind: 'unauthorized'; readonly challenge?: string }
    | {
        readonly kind: 'rate-limit';
        /** As the header has it: seconds, or a date. */
        readonly retryAfter: number | string;
      }
    | { readonly kind: 'redirect'; readonly status: number; readonly location?: string }
    | { readonly kind: 'delay'; readonly duration: Duration }
    | { readonly kind: 'content-type'; readonly type: string }
    /** Bytes that are no text, within an event: the first, or the one that follows. */
    | { readonly kind: 'bad-utf8'; readonly after?: number }
    /** An event, or an answer, of so many bytes: the first, or the one that follows. */
    | { readonly kind: 'oversize'; readonly bytes: number; readonly after?: number }
    /** Half an event, and then a proper end. After 1. */
    | { readonly kind: 'half-frame'; readonly after?: number }
    /** The connection ends in the middle. After 1; after 0 there is not even a head. */
    | { readonly kind: 'cut'; readonly after?: number }
    /** A proper end before the task is over: before its last event, or after so many. */
    | { readonly kind: 'stop'; readonly after?: number }
    /** Nothing more comes, and the connection stays. After 1. */
    | { readonly kind: 'silence'; readonly after?: number }
    /** Nothing but signs of life. After 1, every 1,000 milliseconds. */
    | { readonly kind: 'heartbeats'; readonly after?: number; readonly every?: number }
    /** An event comes twice: the second, unless told otherwise. */
    | { readonly kind: 'duplicate'; readonly event?: number }
    /** An event comes after the one that follows it: the second, unless told otherwise. */
    | { readonly kind: 'reorder'; readonly event?: number }
    /** A chunk of an artifact that was never begun comes before the last event. */
    | { readonly kind: 'wrong-append' }
    /** The task works again after it was over. */
    | { readonly kind: 'after-terminal' }
    /** The connection is reset. After 0: there is not even a head. */
    | { readonly kind: 'reset'; readonly after?: number }
    /** The connection is reset, and new ones are refused for so many milliseconds, or until told otherwise. */
    | { readonly kind: 'refuse'; readonly duration?: number }
    /** The answer says something else: members are replaced, those that are null left out. */
    | { readonly kind: 'card'; readonly override: Readonly<Record<string, unknown>> }
  );
