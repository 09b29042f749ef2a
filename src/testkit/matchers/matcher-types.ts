import type { ExpectedArtifactContent } from './match-artifact.ts';
import type { ExpectedMessage } from './match-received-message.ts';
import type { ExpectedEvent } from './match-stream.ts';

/** What a matcher gives for something that has to be read first, and for what is there. */
export type AwaitedForStreams<Actual> = Actual extends AsyncIterable<unknown> ? Promise<void> : void;

/** The matchers as they stand behind `expect(actual)`. */
export interface TestkitMatchers<Actual = unknown> {
  /** The test agent has received such a message. */
  toHaveReceivedMessage(expected?: ExpectedMessage): void;
  /** Somebody asked the test agent to cancel the task, or any. */
  toHaveBeenCanceled(taskId?: string): void;
  /** The stream, or the list of events, consists of these. A stream that is still open has to be awaited. */
  toHaveStreamed(expected: readonly ExpectedEvent[]): AwaitedForStreams<Actual>;
  /** The task, or the events that tell of it, has an artifact of that name or id. */
  toProduceArtifact(name: string | RegExp, content?: ExpectedArtifactContent): AwaitedForStreams<Actual>;
  /** The events are a legal story of one task. */
  toBeValidStream(): AwaitedForStreams<Actual>;
}
