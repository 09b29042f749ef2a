import { beenCanceled } from './been-canceled.ts';
import { legalStream } from './legal-stream.ts';
import { producedArtifact } from './produced-artifact.ts';
import { receivedMessage } from './received-message.ts';
import { streamed } from './streamed.ts';

/**
 * The matchers, for `expect.extend` of vitest and of jest.
 *
 * @example
 * ```ts
 * expect.extend(matchers);
 * expect(agent).toHaveReceivedMessage('hello');
 * ```
 */
export const matchers = {
  toHaveReceivedMessage: receivedMessage,
  toHaveBeenCanceled: beenCanceled,
  toHaveStreamed: streamed,
  toProduceArtifact: producedArtifact,
  toBeLegalStream: legalStream,
} as const;
