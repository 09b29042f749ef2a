import { A2AError } from '../../protocol/errors.ts';
import { approvalError } from '../approval-error.ts';
import type { ModelEvent, ModelUsage } from '../model-event.ts';

/** Fields of the parts of `fullStream` that are read. */
export interface StreamPart {
  readonly type: string;
  readonly text?: string;
  readonly toolName?: string;
  readonly toolCallId?: string;
  readonly input?: unknown;
  readonly toolCall?: { readonly toolName?: string };
  readonly file?: { readonly base64: string; readonly mediaType: string };
  readonly totalUsage?: ModelUsage;
  readonly finishReason?: string;
  readonly error?: unknown;
}

/** Converts the parts of a stream to events. @throws the error of the model */
export async function* readStreamParts(stream: AsyncIterable<StreamPart>): AsyncGenerator<ModelEvent> {
  for await (const part of stream) {
    switch (part.type) {
      case 'text-delta':
        yield { type: 'text', text: part.text ?? '' };
        break;
      case 'tool-call':
        yield { type: 'tool-call', name: part.toolName ?? '', id: part.toolCallId, input: part.input };
        break;
      case 'file':
        if (part.file) yield { type: 'file', bytes: part.file.base64, mediaType: part.file.mediaType };
        break;
      case 'tool-approval-request':
        throw approvalError(part.toolCall?.toolName ?? '');
      case 'finish':
        if (part.totalUsage) yield { type: 'usage', usage: part.totalUsage };
        yield { type: 'finish', reason: part.finishReason ?? 'unknown' };
        break;
      case 'error':
        throw part.error;
      case 'abort':
        throw new A2AError('CANCELED', 'The model was aborted');
    }
  }
}
