import { beenCanceled } from './match-canceled.ts';
import { legalStream } from './match-valid-stream.ts';
import { producedArtifact } from './match-artifact.ts';
import { receivedMessage } from './match-received-message.ts';
import { streamed } from './match-stream.ts';

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
