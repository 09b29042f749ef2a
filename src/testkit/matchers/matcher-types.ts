import type { ExpectedArtifactContent } from './match-artifact.ts';
import type { ExpectedMessage } from './match-received-message.ts';
import type { ExpectedEvent } from './match-stream.ts';

/** Return type of a matcher: a promise for async iterables. */
export type AwaitedForStreams<Actual> = Actual extends AsyncIterable<unknown> ? Promise<void> : void;

/** Matchers of `expect(actual)`. */
export interface TestkitMatchers<Actual = unknown> {
  /** The test agent has received a matching message. */
  toHaveReceivedMessage(expected?: ExpectedMessage): void;
  /** The test agent has received a cancel request, for a task or for any task. */
  toHaveBeenCanceled(taskId?: string): void;
  /** The stream or list consists of exactly these events. Await the result for a stream. */
  toHaveStreamed(expected: readonly ExpectedEvent[]): AwaitedForStreams<Actual>;
  /** The task, or the stream of a task, has an artifact with a name or id. */
  toProduceArtifact(name: string | RegExp, content?: ExpectedArtifactContent): AwaitedForStreams<Actual>;
  /** The events are a valid stream of one task. */
  toBeValidStream(): AwaitedForStreams<Actual>;
}
