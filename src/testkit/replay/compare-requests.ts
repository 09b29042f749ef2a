import { isJsonObject } from '../../primitives/json.ts';
import { redactedPlaceholder } from '../../primitives/redaction/redaction.ts';
import { truncate } from '../../primitives/text.ts';
import type { Part } from '../../protocol/part.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import type { NearMiss } from '../agent/response-plan.ts';
import type { RecordedExchange } from '../../tap/recording.ts';

/**
 * How a request is compared with recorded ones: `lenient` compares the content of the message, whatever the operation, the
 * order and the number of requests; `strict` compares all members except generated ids, and each recorded request answers
 * once, in the recorded order.
 */
export type ReplayMatching = 'lenient' | 'strict';

/** A message to compare with recorded ones. Ids are those of the recording. */
export interface ComparedMessage {
  readonly operation: 'send' | 'stream';
  readonly request: SendRequest;
}

/** Maximum number of reported differences. */
const maxMismatches = 10;

/** Compares a message with a recorded one, member by member. */
export function compareMessage(
  exchange: RecordedExchange,
  received: ComparedMessage,
  matching: ReplayMatching,
): NearMiss {
  const isStrict = matching === 'strict';
  const expected = flatten(toCompared(exchange.request as SendRequest, isStrict));
  const actual = flatten(toCompared(received.request, isStrict));
  if (isStrict) {
    expected.set('operation', exchange.operation);
    actual.set('operation', received.operation);
  }
  const mismatches: string[] = [];
  let matched = 0;
  for (const path of new Set([...expected.keys(), ...actual.keys()])) {
    const recordedValue = expected.get(path);
    const receivedValue = actual.get(path);
    if (isEqual(recordedValue, receivedValue)) matched++;
    else if (mismatches.length < maxMismatches)
      mismatches.push(`${path}: recorded ${format(recordedValue)}, received ${format(receivedValue)}`);
  }
  return { rule: describeExchange(exchange), mismatches, matched };
}

/** Names a recorded exchange. */
export function describeExchange({ number, summary }: RecordedExchange): string {
  return `request ${number} (${summary})`;
}

/** Returns the recorded requests that are most like the received one, nearest first. */
export function findNearMisses(
  candidates: readonly RecordedExchange[],
  received: ComparedMessage,
  matching: ReplayMatching,
): NearMiss[] {
  const text = firstText(received.request);
  return candidates
    .map((exchange) => ({
      miss: compareMessage(exchange, received, matching),
      similarity: commonLength(firstText(exchange.request as SendRequest), text),
    }))
    .sort(
      (a, b) =>
        a.miss.mismatches.length - b.miss.mismatches.length ||
        b.similarity - a.similarity ||
        b.miss.matched - a.miss.matched,
    )
    .slice(0, 3)
    .map(({ miss }) => miss);
}

function toCompared({ message, configuration, metadata }: SendRequest, isStrict: boolean): unknown {
  if (!isStrict) return { message: { parts: message.parts.map(contentOf) } };
  const { parts, metadata: messageMetadata, extensions, referenceTaskIds } = message;
  return {
    message: { parts, metadata: messageMetadata, extensions, referenceTaskIds },
    configuration,
    metadata,
  };
}

/** Returns the content of a part. White space of texts does not matter. */
function contentOf(part: Part): unknown {
  if ('text' in part) return { text: part.text.trim().replaceAll(/\s+/g, ' ') };
  if ('data' in part) return { data: part.data };
  return 'url' in part ? { url: part.url } : { raw: part.raw };
}

/** Returns all values by path. Absent, false and empty members are the same. */
function flatten(value: unknown): Map<string, unknown> {
  const found = new Map<string, unknown>();
  const visit = (each: unknown, path: string): void => {
    if (Array.isArray(each)) for (const [i, item] of each.entries()) visit(item, `${path}[${i}]`);
    else if (isJsonObject(each))
      for (const [key, member] of Object.entries(each)) visit(member, path === '' ? key : `${path}.${key}`);
    else if (each !== undefined && each !== false) found.set(path, each);
  };
  visit(value, '');
  return found;
}

function isEqual(recorded: unknown, received: unknown): boolean {
  if (recorded === received) return true;
  if (typeof recorded !== 'string' || typeof received !== 'string') return false;
  return recorded.includes(redactedPlaceholder) && matchesRedacted(recorded, received);
}

/** Returns true if a text equals a recorded one, whose removed secrets may have been anything. */
function matchesRedacted(recorded: string, received: string): boolean {
  const [start = '', ...rest] = recorded.split(redactedPlaceholder);
  const end = rest.pop() ?? '';
  if (received.length < start.length + end.length) return false;
  if (!received.startsWith(start) || !received.endsWith(end)) return false;
  let at = start.length;
  for (const piece of rest) {
    const found = received.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return at <= received.length - end.length;
}

function format(value: unknown): string {
  return value === undefined ? 'nothing' : truncate(JSON.stringify(value), 120);
}

function firstText({ message }: SendRequest): string {
  for (const part of message.parts) if ('text' in part) return part.text;
  return '';
}

/** Number of characters that two texts share at their start and end. */
function commonLength(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  let start = 0;
  while (start < shorter && a[start] === b[start]) start++;
  let end = 0;
  while (end < shorter - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  return start + end;
}
