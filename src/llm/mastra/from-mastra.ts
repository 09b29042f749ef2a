import type { ProcessFunction } from '../../engine/agent-definition.ts';
import { approvalError } from '../approval-error.ts';
import { readStreamParts, type StreamPart } from '../ai-sdk/stream-parts.ts';
import { checkSource } from '../check-source.ts';
import type { ModelUsage } from '../model-event.ts';
import { type ModelMessage, toModelMessages } from '../model-messages.ts';
import { type ModelRunOptions, runModel } from '../run-model.ts';

/** The part of an agent of Mastra that is used. */
export interface MastraAgent {
  stream(
    // oxlint-disable-next-line typescript/no-explicit-any -- Mastra accepts more than model messages
    messages: any,
    options: { readonly abortSignal: AbortSignal },
  ): PromiseLike<{ readonly fullStream: AsyncIterable<{ readonly type: string }> }>;
}

/**
 * Makes a process function from an agent of Mastra (package `@mastra/core`). Earlier turns of the context are part of the
 * messages; text deltas become chunks, tool calls status updates, usage metadata of the task. Canceling the task aborts
 * the model. If the model fails, the task fails and keeps the text so far.
 */
export function fromMastra(agent: MastraAgent, options: ModelRunOptions = {}): ProcessFunction {
  checkSource(agent, 'stream', 'an agent of Mastra');
  return async function* (context) {
    const messages: ModelMessage[] = toModelMessages([...(await context.history()), context.message]);
    const { fullStream } = await agent.stream(messages, { abortSignal: context.signal });
    return yield* runModel(readStreamParts(unwrap(fullStream)), options);
  };
}

/** Parts of the AI SDK in an envelope, with few other names. */
interface MastraChunk {
  readonly type: string;
  readonly payload?: StreamPart & {
    readonly args?: unknown;
    readonly output?: { readonly usage?: ModelUsage };
    readonly stepResult?: { readonly reason?: string };
  };
}

async function* unwrap(stream: AsyncIterable<MastraChunk>): AsyncGenerator<StreamPart> {
  for await (const { type, payload } of stream) {
    if (type === 'tool-call-approval') throw approvalError(payload?.toolName ?? '');
    yield {
      ...payload,
      type,
      ...(type === 'tool-call' && { input: payload?.args }),
      ...(type === 'finish' && {
        totalUsage: payload?.output?.usage,
        finishReason: payload?.stepResult?.reason,
      }),
    };
  }
}
