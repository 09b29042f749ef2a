import type { ProcessContext } from '../../engine/process-context.ts';
import type { Metadata } from '../../protocol/part.ts';
import type { Task } from '../../protocol/task.ts';
import type { ExchangeCapture } from '../journal/exchange-capture.ts';
import type { ReceivedMessage } from './response-plan.ts';

/** What is known of a message beside what the engine says. */
interface Circumstances {
  readonly operation: 'send' | 'stream';
  readonly recording: ExchangeCapture | undefined;
  /** The task as it stood before. */
  readonly before: Task | undefined;
  readonly turn: number;
}

/** A message to the agent, as those who decide see it. */
export function toReceivedMessage(
  { message, metadata, call }: ProcessContext,
  around: Circumstances,
): ReceivedMessage {
  const { operation, recording, before, turn } = around;
  return {
    operation,
    message,
    text: message.parts.flatMap((part) => ('text' in part ? [part.text] : [])).join('\n'),
    metadata,
    skill: skillIn(message.metadata) ?? skillIn(metadata),
    version: call.version,
    transport: recording && (recording.isRpc ? 'JSONRPC' : 'HTTP+JSON'),
    // Credentials included, which a gate has taken out of the call.
    headers: recording?.request.headers ?? call.headers ?? {},
    principal: call.principal,
    task: before,
    contextId: before?.contextId ?? message.contextId,
    turn,
  };
}

function skillIn(metadata: Metadata | undefined): string | undefined {
  if (!metadata) return undefined;
  return ['skill', 'skillId', 'skill_id']
    .map((name) => metadata[name])
    .find((value) => typeof value === 'string');
}
