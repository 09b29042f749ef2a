/** A number of milliseconds, or a way to draw one. */
export type Duration =
  | number
  | { readonly min: number; readonly max: number }
  | { readonly mean: number; readonly deviation: number };

/**
 * What goes wrong with one answer. `after` counts the events of a stream that pass first; `times` is how often in all
 * it goes wrong, for ever when absent.
 */
export type Fault = { readonly times?: number } & (
  | {
      readonly kind: 'http';
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      /** Text as it is; anything else as JSON. */
      readonly body?: unknown;
    }
  | { readonly kind: 'unauthorized'; readonly challenge?: string }
  | { readonly kind: 'rate-limit'; readonly retryAfter: number | string }
  | { readonly kind: 'redirect'; readonly status: number; readonly location?: string }
  | { readonly kind: 'delay'; readonly duration: Duration }
  | { readonly kind: 'content-type'; readonly type: string }
  | { readonly kind: 'bad-utf8'; readonly after?: number }
  | { readonly kind: 'oversize'; readonly bytes: number; readonly after?: number }
  | { readonly kind: 'half-frame'; readonly after?: number }
  | { readonly kind: 'cut'; readonly after?: number }
  | { readonly kind: 'stop'; readonly after?: number }
  | { readonly kind: 'silence'; readonly after?: number }
  | { readonly kind: 'heartbeats'; readonly after?: number; readonly every?: number }
  | { readonly kind: 'duplicate'; readonly event?: number }
  | { readonly kind: 'reorder'; readonly event?: number }
  | { readonly kind: 'wrong-append' }
  | { readonly kind: 'after-terminal' }
  | { readonly kind: 'reset'; readonly after?: number }
);
