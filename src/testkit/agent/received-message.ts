import type { ProcessContext } from '../../engine/process-context.ts';
import type { Metadata } from '../../protocol/part.ts';
import type { Task } from '../../protocol/task.ts';
import type { ExchangeCapture } from '../journal/exchange-capture.ts';
import type { ReceivedMessage } from './response-plan.ts';

/** Properties of a message that the engine does not know. */
interface MessageContext {
  readonly operation: 'send' | 'stream';
  readonly capture: ExchangeCapture | undefined;
  /** The task before the message. */
  readonly previousTask: Task | undefined;
  readonly turn: number;
}

/** Builds the input of responders from the process context. */
export function toReceivedMessage(
  { message, metadata, call }: ProcessContext,
  { operation, capture, previousTask, turn }: MessageContext,
): ReceivedMessage {
  return {
    operation,
    message,
    text: message.parts.flatMap((part) => ('text' in part ? [part.text] : [])).join('\n'),
    metadata,
    skill: findSkill(message.metadata) ?? findSkill(metadata),
    version: call.version,
    transport: capture?.transport,
    // The captured headers include credentials, which authentication removes from the call.
    headers: capture?.request.headers ?? call.headers ?? {},
    principal: call.principal,
    task: previousTask,
    contextId: previousTask?.contextId ?? message.contextId,
    turn,
  };
}

function findSkill(metadata: Metadata | undefined): string | undefined {
  if (!metadata) return undefined;
  return ['skill', 'skillId', 'skill_id']
    .map((name) => metadata[name])
    .find((value) => typeof value === 'string');
}
