import {
  type AgentOutput,
  artifact,
  type MessageContent,
  type StatusOutput,
} from '../engine/agent-output.ts';
import type { Metadata } from '../protocol/part.ts';
import type { ModelEvent, ModelToolCall, ModelUsage } from './model-event.ts';
import { toolCallKey } from './model-messages.ts';

/** Options of {@link runModel} and of all functions that make a process function from an LLM framework. */
export interface ModelRunOptions {
  /**
   * Returns the message of the status update that reports a tool call, or undefined to report nothing. Clients see it:
   * the default contains the name of the tool, but not its input.
   * @defaultValue `Calling NAME`
   */
  readonly describeToolCall?: ((call: ModelToolCall) => MessageContent | undefined) | undefined;
}

/**
 * Converts events of a model to output of an agent: text to chunks of one artifact, tool calls to status updates, files to
 * artifacts, usage and the reason of the end to metadata of the task.
 *
 * @throws the error of the model; the task then fails and keeps the text so far
 */
export async function* runModel(
  events: AsyncIterable<ModelEvent>,
  { describeToolCall = describeByName }: ModelRunOptions = {},
): AsyncGenerator<AgentOutput, StatusOutput> {
  const metadata: Metadata = {};
  let usage: ModelUsage | undefined;
  let hasText = false;
  let isNewParagraph = false;
  for await (const event of events) {
    switch (event.type) {
      case 'text':
        if (event.text === '') break;
        // Text before and after a tool call belongs to different replies of the model.
        yield isNewParagraph ? `\n\n${event.text}` : event.text;
        hasText = true;
        isNewParagraph = false;
        break;
      case 'tool-call': {
        isNewParagraph = hasText;
        const message = describeToolCall(event);
        if (message !== undefined) yield { state: 'working', message };
        break;
      }
      case 'file':
        yield artifact([
          { raw: event.bytes, mediaType: event.mediaType, ...(event.name && { filename: event.name }) },
        ]);
        break;
      case 'usage':
        usage = addUsage(usage, event.usage);
        break;
      case 'finish':
        metadata.finishReason = event.reason;
        break;
    }
  }
  if (usage) metadata.usage = usage;
  return { state: 'completed', ...(Object.keys(metadata).length > 0 && { metadata }) };
}

function describeByName({ name, id }: ModelToolCall): MessageContent {
  const call = { name, ...(id !== undefined && { id }) };
  return [{ text: `Calling ${name}`, metadata: { [toolCallKey]: call } }];
}

function addUsage(before: ModelUsage | undefined, usage: ModelUsage): ModelUsage {
  const sum = (a: number | undefined, b: number | undefined): number | undefined =>
    a === undefined ? b : a + (b ?? 0);
  const inputTokens = sum(before?.inputTokens, usage.inputTokens);
  const outputTokens = sum(before?.outputTokens, usage.outputTokens);
  const totalTokens = sum(
    before?.totalTokens,
    usage.totalTokens ?? sum(usage.inputTokens, usage.outputTokens),
  );
  return {
    ...(inputTokens !== undefined && { inputTokens }),
    ...(outputTokens !== undefined && { outputTokens }),
    ...(totalTokens !== undefined && { totalTokens }),
  };
}
