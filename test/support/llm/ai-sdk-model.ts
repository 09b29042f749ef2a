import type { MockLanguageModelV3 } from 'ai/test';
import type { ScriptedTurns } from './scripted-turns.ts';

/** Tokens of each call of a scripted model. */
export const scriptedUsage = { inputTokens: 3, outputTokens: 5 };

type ModelStream = Awaited<ReturnType<MockLanguageModelV3['doStream']>>['stream'];
type StreamPart = ModelStream extends ReadableStream<infer P> ? P : never;

/** Plays the next turn as the stream of a language model of the AI SDK (specification 3). */
export function scriptedAiSdkStream(
  script: ScriptedTurns,
  { prompt, tools, abortSignal }: { prompt: unknown; tools?: unknown; abortSignal?: AbortSignal | undefined },
): ModelStream {
  return ReadableStream.from(streamParts(script, { prompt, tools }, abortSignal)) as ModelStream;
}

async function* streamParts(
  script: ScriptedTurns,
  prompt: object,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamPart> {
  let hasCalls = false;
  yield { type: 'stream-start', warnings: [] };
  yield { type: 'text-start', id: '1' };
  for await (const act of script.play(prompt, signal)) {
    if (typeof act === 'string') yield { type: 'text-delta', id: '1', delta: act };
    else {
      hasCalls = true;
      yield { type: 'tool-call', toolCallId: act.id, toolName: act.tool, input: JSON.stringify(act.input) };
    }
  }
  yield { type: 'text-end', id: '1' };
  yield {
    type: 'finish',
    finishReason: { unified: hasCalls ? 'tool-calls' : 'stop', raw: undefined },
    usage: {
      inputTokens: {
        total: scriptedUsage.inputTokens,
        noCache: undefined,
        cacheRead: undefined,
        cacheWrite: undefined,
      },
      outputTokens: { total: scriptedUsage.outputTokens, text: undefined, reasoning: undefined },
    },
  };
}
