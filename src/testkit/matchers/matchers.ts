import { matchCanceled } from './match-canceled.ts';
import { matchValidStream } from './match-valid-stream.ts';
import { matchArtifact } from './match-artifact.ts';
import { matchReceivedMessage } from './match-received-message.ts';
import { matchStream } from './match-stream.ts';

/**
 * Matchers for `expect.extend` of vitest and jest.
 *
 * @example
 * ```ts
 * expect.extend(matchers);
 * expect(agent).toHaveReceivedMessage('hello');
 * ```
 */
export const matchers = {
  toHaveReceivedMessage: matchReceivedMessage,
  toHaveBeenCanceled: matchCanceled,
  toHaveStreamed: matchStream,
  toProduceArtifact: matchArtifact,
  toBeValidStream: matchValidStream,
} as const;
