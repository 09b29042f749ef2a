import { isJsonObject } from '../primitives/json.ts';
import { invalidField } from './errors.ts';
import type { Message } from './message.ts';
import { type Part, type PartLabels, rawPart } from './part.ts';
import type { SendRequest } from './requests.ts';

/** A file of a message: its bytes, or a URL from which the agent can read them. */
export type FileInput = PartLabels & ({ bytes: Uint8Array } | { url: string | URL });

/** Content of a message of the user. At least one of `text`, `data`, `files` and `parts` is required. */
export interface MessageInput extends Partial<Omit<Message, 'role'>> {
  text?: string;
  /** Any JSON value. */
  data?: unknown;
  files?: readonly FileInput[];
}

/** Argument of `send` and `stream`: a text, the content of a message, or a complete request. */
export type SendInput = string | MessageInput | SendRequest;

const memberNames: ReadonlySet<string> = new Set<keyof MessageInput>([
  'text',
  'data',
  'files',
  'parts',
  'messageId',
  'contextId',
  'taskId',
  'extensions',
  'referenceTaskIds',
  'metadata',
]);

/**
 * Creates a message of the user with a new id.
 *
 * @throws {@link A2AError} `INVALID_PARAMS` if there is no content
 *
 * @example
 * ```ts
 * const message = userMessage({ text: 'Summarize this', files: [{ bytes, filename: 'report.pdf', mediaType: 'application/pdf' }] });
 * ```
 */
export function userMessage(input: string | MessageInput): Message {
  if (typeof input === 'string')
    return { messageId: crypto.randomUUID(), role: 'user', parts: [{ text: input }] };
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    throw invalidField(
      'message',
      'must be a text, an object such as { text, contextId, files }, or { message }',
    );
  const unknownName = Object.keys(input).find((name) => !memberNames.has(name));
  if (unknownName !== undefined)
    throw invalidField(
      unknownName,
      `is unknown; use { message } for a complete request, or ${[...memberNames].join(', ')}`,
    );
  const { text, data, files = [], parts = [], messageId = crypto.randomUUID(), ...members } = input;
  const content: Part[] = [...(text === undefined ? [] : [{ text }]), ...('data' in input ? [{ data }] : [])];
  content.push(...files.map(toFilePart), ...parts);
  if (content.length === 0) throw invalidField('message', 'must have text, data, files or parts');
  return { messageId, role: 'user', parts: content, ...members };
}

function toFilePart(file: FileInput): Part {
  if ('bytes' in file) {
    const { bytes, ...labels } = file;
    return rawPart(bytes, labels);
  }
  const { url, ...labels } = file;
  return { url: String(url), ...labels };
}

/** Returns the complete request of a short form. Agents that you implement yourself may call it in `send` and `stream`. */
export function toSendRequest(input: SendInput): SendRequest {
  if (typeof input !== 'object' || input === null || !('message' in input))
    return { message: userMessage(input) };
  const { message } = input;
  if (isJsonObject(message) && Array.isArray(message.parts)) return input;
  throw invalidField(
    'message',
    'must be an object with messageId, role and parts; userMessage(text) creates one',
  );
}
