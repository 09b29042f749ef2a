import { AssertionError } from 'node:assert';
import type { Message } from '../../protocol/message.ts';
import type { Task } from '../../protocol/task.ts';
import { beenCanceled } from './match-canceled.ts';
import type { Captured } from './request-capture.ts';
import type { Events } from './collect-events.ts';
import { legalStream } from './match-valid-stream.ts';
import type { Settled } from './matcher-types.ts';
import { type ExpectedContent, producedArtifact } from './match-artifact.ts';
import { type ExpectedMessage, receivedMessage } from './match-received-message.ts';
import { type EventGist, streamed } from './match-stream.ts';
import type { Verdict } from './matcher-result.ts';

/** Throws unless a test agent has received such a message. */
export function assertReceivedMessage(server: Captured, expected?: ExpectedMessage): void {
  demand(receivedMessage(server, expected), assertReceivedMessage);
}

/** Throws unless somebody asked a test agent to cancel the task, or any. */
export function assertCanceled(server: Captured, taskId?: string): void {
  demand(beenCanceled(server, taskId), assertCanceled);
}

/** Throws, or rejects where a stream has to be read first, unless it consists of these events. */
export function assertStreamed<Actual extends Events>(
  actual: Actual,
  expected: readonly EventGist[],
): Settled<Actual> {
  return settle(streamed(actual, expected), assertStreamed);
}

/** Throws, or rejects where a stream has to be read first, unless there is an artifact of that name or id. */
export function assertProducedArtifact<Actual extends Task | Message | Events>(
  actual: Actual,
  name: string | RegExp,
  content?: ExpectedContent,
): Settled<Actual> {
  return settle(producedArtifact(actual, name, content), assertProducedArtifact);
}

/** Throws, or rejects where a stream has to be read first, unless it is a legal story of one task. */
export function assertLegalStream<Actual extends Events>(actual: Actual): Settled<Actual> {
  return settle(legalStream(actual), assertLegalStream);
}

function settle<Actual>(
  found: Verdict | Promise<Verdict>,
  asserted: (...args: never) => unknown,
): Settled<Actual> {
  if (found instanceof Promise) return found.then((settled) => demand(settled, asserted)) as Settled<Actual>;
  return demand(found, asserted) as Settled<Actual>;
}

function demand({ pass, message }: Verdict, asserted: (...args: never) => unknown): void {
  if (!pass) throw new AssertionError({ message: message(), stackStartFn: asserted });
}
