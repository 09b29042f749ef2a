import type { ProcessFunction } from '../../engine/agent-definition.ts';
import { checkSource } from '../check-source.ts';
import type { ModelEvent } from '../model-event.ts';
import { type ModelMessage, toModelMessages } from '../model-messages.ts';
import { type ModelRunOptions, runModel } from '../run-model.ts';
import { type AdkContent, type AdkEvent, type AdkLibrary, type AdkRunner, loadAdk } from './adk-library.ts';

const userId = 'client';

/**
 * Makes a process function from an agent of the Agent Development Kit of Google (package `@google/adk`). Each run gets a
 * session of its own with the earlier turns of the context; text deltas become chunks, function calls status updates,
 * usage metadata of the task. Canceling the task aborts the run. If the model fails, the task fails and keeps the text
 * so far.
 */
export function fromAdk(agent: object, options: ModelRunOptions = {}): ProcessFunction {
  checkSource(agent, 'runAsync', 'an agent of the Agent Development Kit');
  let loading: Promise<{ library: AdkLibrary; runner: AdkRunner }> | undefined;
  const load = async (): Promise<{ library: AdkLibrary; runner: AdkRunner }> => {
    const library = await loadAdk('fromAdk');
    return { library, runner: new library.InMemoryRunner({ agent, appName: 'dragoman' }) };
  };
  return async function* (context) {
    const { library, runner } = await (loading ??= load());
    const messages = toModelMessages([...(await context.history()), context.message]);
    const newMessage = toContent(messages.pop());
    const { appName, sessionService } = runner;
    const session = await sessionService.createSession({ appName, userId });
    try {
      for (const message of messages) {
        const content = toContent(message);
        const author = message.role === 'user' ? 'user' : nameOf(agent);
        const event = library.createEvent({ author, content, invocationId: context.taskId });
        await sessionService.appendEvent({ session, event });
      }
      const events = runner.runAsync({
        userId,
        sessionId: session.id,
        newMessage,
        runConfig: { streamingMode: 'sse' },
        abortSignal: context.signal,
      });
      return yield* runModel(readEvents(events), options);
    } finally {
      await sessionService.deleteSession({ appName, userId, sessionId: session.id });
    }
  };
}

function nameOf(agent: object): string {
  const { name } = agent as { readonly name?: unknown };
  return typeof name === 'string' ? name : 'agent';
}

function toContent(message: ModelMessage | undefined): AdkContent {
  const { role = 'user', content = '' } = message ?? {};
  const parts =
    typeof content === 'string'
      ? [{ text: content }]
      : content.map((each) =>
          each.type === 'text'
            ? { text: each.text }
            : { inlineData: { data: each.data, mimeType: each.mediaType } },
        );
  return { role: role === 'user' ? 'user' : 'model', parts };
}

async function* readEvents(events: AsyncIterable<AdkEvent>): AsyncGenerator<ModelEvent> {
  /** True if deltas contained the text of the next complete event. */
  let isStreamed = false;
  for await (const { content, partial, errorCode, errorMessage, usageMetadata, finishReason } of events) {
    if (errorCode !== undefined || errorMessage !== undefined)
      throw new Error(`The model failed: ${errorMessage ?? errorCode}`);
    for (const { text, thought, functionCall, inlineData } of content?.parts ?? []) {
      if (text !== undefined && !thought && (partial || !isStreamed)) yield { type: 'text', text };
      if (partial) continue;
      if (functionCall)
        yield {
          type: 'tool-call',
          name: functionCall.name ?? '',
          id: functionCall.id,
          input: functionCall.args,
        };
      if (inlineData?.data !== undefined && inlineData.mimeType !== undefined)
        yield { type: 'file', bytes: inlineData.data, mediaType: inlineData.mimeType };
    }
    isStreamed = partial === true;
    if (partial) continue;
    if (usageMetadata)
      yield {
        type: 'usage',
        usage: {
          inputTokens: usageMetadata.promptTokenCount,
          outputTokens: usageMetadata.candidatesTokenCount,
          totalTokens: usageMetadata.totalTokenCount,
        },
      };
    if (finishReason !== undefined) yield { type: 'finish', reason: finishReason };
  }
}
