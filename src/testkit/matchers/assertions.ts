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

/** Asserts that a test agent has received a message. */
export function assertReceivedMessage(server: RequestCapture, expected?: ExpectedMessage): void {
  assertPassed(matchReceivedMessage(server, expected), assertReceivedMessage);
}

/** Asserts that a test agent has received a cancel request, for a task or for any task. */
export function assertCanceled(server: RequestCapture, taskId?: string): void {
  assertPassed(matchCanceled(server, taskId), assertCanceled);
}

/** Asserts that a stream consists of the expected events. Returns a promise for an async iterable. */
export function assertStreamed<Actual extends EventInput>(
  actual: Actual,
  expected: readonly ExpectedEvent[],
): AwaitedForStreams<Actual> {
  return assertResult(matchStream(actual, expected), assertStreamed);
}

/** Asserts that there is an artifact with a name or id. Returns a promise for an async iterable. */
export function assertProducedArtifact<Actual extends Task | Message | EventInput>(
  actual: Actual,
  name: string | RegExp,
  content?: ExpectedArtifactContent,
): AwaitedForStreams<Actual> {
  return assertResult(matchArtifact(actual, name, content), assertProducedArtifact);
}

/** Asserts that the events are a valid stream of one task. Returns a promise for an async iterable. */
export function assertValidStream<Actual extends EventInput>(actual: Actual): AwaitedForStreams<Actual> {
  return assertResult(matchValidStream(actual), assertValidStream);
}

function assertResult<Actual>(
  result: MatcherResult | Promise<MatcherResult>,
  assertion: (...args: never) => unknown,
): AwaitedForStreams<Actual> {
  if (result instanceof Promise)
    return result.then((resolved) => assertPassed(resolved, assertion)) as AwaitedForStreams<Actual>;
  return assertPassed(result, assertion) as AwaitedForStreams<Actual>;
}

function assertPassed({ pass, message }: MatcherResult, assertion: (...args: never) => unknown): void {
  if (!pass) throw new AssertionError({ message: message(), stackStartFn: assertion });
}
