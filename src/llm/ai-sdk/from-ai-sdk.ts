import type { ProcessFunction } from '../../engine/agent-definition.ts';
import type { ProcessContext } from '../../engine/process-context.ts';
import { checkSource, checkStream } from '../check-source.ts';
import { type ModelMessage, toModelMessages } from '../model-messages.ts';
import { type ModelRunOptions, runModel } from '../run-model.ts';
import { readStreamParts } from './stream-parts.ts';

/** Options of one call, with the names of the AI SDK: `streamText({ model, ...call })`. */
export interface AiSdkCall {
  /** The conversation so far and the message to process. */
  readonly messages: ModelMessage[];
  /** Aborted when the task is canceled. */
  readonly abortSignal: AbortSignal;
}

/** The part of the result of `streamText` that is read. */
export interface AiSdkStream {
  readonly fullStream: AsyncIterable<{ readonly type: string }>;
}

/** A `ToolLoopAgent` or another agent of the AI SDK. */
export interface AiSdkAgent {
  stream(call: { messages: ModelMessage[]; abortSignal: AbortSignal }): PromiseLike<AiSdkStream>;
}

/** A function that calls `streamText`, or an agent of the AI SDK. */
export type AiSdkSource =
  | AiSdkAgent
  | ((call: AiSdkCall, context: ProcessContext) => AiSdkStream | PromiseLike<AiSdkStream>);

/**
 * Makes a process function from the AI SDK (package `ai`, version 6 and later). Earlier turns of the context are part of
 * the messages; text deltas become chunks, tool calls status updates, usage metadata of the task. Canceling the task
 * aborts the model. If the model fails, the task fails and keeps the text so far.
 *
 * @example
 * ```ts
 * defineAgent({ name: 'Poet', description: 'Writes poems', process: fromAiSdk((call) => streamText({ model, ...call })) });
 * ```
 */
export function fromAiSdk(source: AiSdkSource, options: ModelRunOptions = {}): ProcessFunction {
  if (typeof source !== 'function')
    checkSource(source, 'stream', 'a function that calls streamText, or an agent of the AI SDK');
  return async function* (context) {
    const messages = toModelMessages([...(await context.history()), context.message]);
    const call = { messages, abortSignal: context.signal };
    const { fullStream } = await (typeof source === 'function' ? source(call, context) : source.stream(call));
    checkStream(fullStream, 'the result of streamText');
    return yield* runModel(readStreamParts(fullStream), options);
  };
}
