/** A call of a tool by a model. */
export interface ModelToolCall {
  readonly name: string;
  /** Id of the call, if the framework has one. */
  readonly id?: string | undefined;
  readonly input?: unknown;
}

/** Tokens that a model used. */
export interface ModelUsage {
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly totalTokens?: number | undefined;
}

/** An event of a model or of an LLM framework, independent of the framework. Errors are thrown. */
export type ModelEvent =
  | { readonly type: 'text'; readonly text: string }
  | ({ readonly type: 'tool-call' } & ModelToolCall)
  /** A file that the model created, as base64. */
  | { readonly type: 'file'; readonly bytes: string; readonly mediaType: string; readonly name?: string }
  /** Usage of one model call; the usage of a run is the sum. */
  | { readonly type: 'usage'; readonly usage: ModelUsage }
  /** The last model call ended, for example because of `stop` or `length`. */
  | { readonly type: 'finish'; readonly reason: string };
