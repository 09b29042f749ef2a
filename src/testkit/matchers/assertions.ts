import { AssertionError } from 'node:assert';
import type { Message } from '../../protocol/message.ts';
import type { Task } from '../../protocol/task.ts';
import { matchCanceled } from './match-canceled.ts';
import type { RequestCapture } from './request-capture.ts';
import type { EventInput } from './collect-events.ts';
import { matchValidStream } from './match-valid-stream.ts';
import type { AwaitedForStreams } from './matcher-types.ts';
import { type ExpectedArtifactContent, matchArtifact } from './match-artifact.ts';
import { type ExpectedMessage, matchReceivedMessage } from './match-received-message.ts';
import { type ExpectedEvent, matchStream } from './match-stream.ts';
import type { MatcherResult } from './matcher-result.ts';

/** Throws unless a test agent has received such a message. */
export function assertReceivedMessage(server: RequestCapture, expected?: ExpectedMessage): void {
  demand(matchReceivedMessage(server, expected), assertReceivedMessage);
}

/** Throws unless somebody asked a test agent to cancel the task, or any. */
export function assertCanceled(server: RequestCapture, taskId?: string): void {
  demand(matchCanceled(server, taskId), assertCanceled);
}

/** Throws, or rejects where a stream has to be read first, unless it consists of these events. */
export function assertStreamed<Actual extends EventInput>(
  actual: Actual,
  expected: readonly ExpectedEvent[],
): AwaitedForStreams<Actual> {
  return settle(matchStream(actual, expected), assertStreamed);
}

/** Throws, or rejects where a stream has to be read first, unless there is an artifact of that name or id. */
export function assertProducedArtifact<Actual extends Task | Message | EventInput>(
  actual: Actual,
  name: string | RegExp,
  content?: ExpectedArtifactContent,
): AwaitedForStreams<Actual> {
  return settle(matchArtifact(actual, name, content), assertProducedArtifact);
}

/** Throws, or rejects where a stream has to be read first, unless it is a legal story of one task. */
export function assertValidStream<Actual extends EventInput>(actual: Actual): AwaitedForStreams<Actual> {
  return settle(matchValidStream(actual), assertValidStream);
}

function settle<Actual>(
  found: MatcherResult | Promise<MatcherResult>,
  asserted: (...args: never) => unknown,
): AwaitedForStreams<Actual> {
  if (found instanceof Promise)
    return found.then((settled) => demand(settled, asserted)) as AwaitedForStreams<Actual>;
  return demand(found, asserted) as AwaitedForStreams<Actual>;
}

function demand({ pass, message }: MatcherResult, asserted: (...args: never) => unknown): void {
  if (!pass) throw new AssertionError({ message: message(), stackStartFn: asserted });
}
