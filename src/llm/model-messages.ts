import { isTextMediaType } from '../primitives/formats/text-media-type.ts';
import type { Message } from '../protocol/message.ts';
import { bytesOf, type Part } from '../protocol/part.ts';

/** Key of the metadata of a part that reports a tool call. Such parts are not shown to models. */
export const toolCallKey = 'toolCall';

/** Content of a model message: a text, or a file as base64. */
export type ModelContent =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'file';
      readonly data: string;
      readonly mediaType: string;
      readonly filename?: string;
    };

/**
 * A message as models expect it. The format is the one of the AI SDK; messages with a text only are also messages of
 * LangChain.js and of OpenAI-compatible APIs.
 */
export type ModelMessage =
  | { role: 'user'; content: string | ModelContent[] }
  | { role: 'assistant'; content: string };

/** A model message of any framework: the fields that {@link fromModelMessages} reads. */
export interface AnyModelMessage {
  readonly role: string;
  readonly content: string | readonly { readonly type: string }[];
}

/**
 * Converts A2A messages, such as those of `context.history()`, to model messages. Data and text files become text; other
 * files of users stay files. A link stays text, because frameworks fetch URLs of files, and the peer chose this one.
 * Messages of one role that follow each other are joined; reports of tool calls and empty messages are left out.
 */
export function toModelMessages(messages: readonly Message[]): ModelMessage[] {
  const turns: { role: 'user' | 'assistant'; content: ModelContent[] }[] = [];
  for (const { role, parts } of messages) {
    const content = parts.flatMap((part) => toContent(part, role === 'user'));
    if (content.length === 0) continue;
    const name = role === 'user' ? 'user' : 'assistant';
    const last = turns.at(-1);
    if (last?.role === name) last.content.push({ type: 'text', text: '\n\n' }, ...content);
    else turns.push({ role: name, content });
  }
  return turns.map(({ role, content }) => {
    const joined = joinTexts(content);
    const text = joined.map((each) => (each.type === 'text' ? each.text : '')).join('');
    // Only users have files.
    return role === 'user' && joined.some(({ type }) => type === 'file')
      ? { role, content: joined }
      : { role, content: text };
  });
}

/**
 * Converts model messages to A2A messages: those of users and assistants, with their texts and files. System messages and
 * tool calls have no counterpart and are left out.
 *
 * @param newId - creates the message ids. Default: `crypto.randomUUID`
 */
export function fromModelMessages(
  messages: readonly AnyModelMessage[],
  newId: () => string = () => crypto.randomUUID(),
): Message[] {
  const converted: Message[] = [];
  for (const { role, content } of messages) {
    if (role !== 'user' && role !== 'assistant') continue;
    const parts = typeof content === 'string' ? [{ text: content }] : content.flatMap(toPart);
    if (parts.length > 0)
      converted.push({ messageId: newId(), role: role === 'user' ? 'user' : 'agent', parts });
  }
  return converted;
}

function toContent(part: Part, mayBeFile: boolean): ModelContent[] {
  if ('text' in part) {
    const isReport = part.metadata !== undefined && toolCallKey in part.metadata;
    return part.text === '' || isReport ? [] : [{ type: 'text', text: part.text }];
  }
  if ('data' in part) return [{ type: 'text', text: JSON.stringify(part.data) }];
  if ('url' in part) return [note(part, part.url)];
  const { mediaType, filename } = part;
  if (mediaType !== undefined && isTextMediaType(mediaType))
    return [{ type: 'text', text: new TextDecoder().decode(bytesOf(part)) }];
  if (mediaType === undefined || !mayBeFile) return [note(part)];
  return [{ type: 'file', data: part.raw, mediaType, ...(filename !== undefined && { filename }) }];
}

/** Describes a file that is not shown to the model. */
function note({ filename, mediaType }: Part, url?: string): ModelContent {
  const words = [filename, mediaType && `(${mediaType})`, url].filter(Boolean).join(' ');
  return { type: 'text', text: `[file: ${words || 'unnamed'}]` };
}

/** Joins texts that follow each other. */
function joinTexts(content: readonly ModelContent[]): ModelContent[] {
  const joined: ModelContent[] = [];
  for (const each of content) {
    const last = joined.at(-1);
    if (each.type === 'text' && last?.type === 'text')
      joined[joined.length - 1] = { type: 'text', text: last.text + each.text };
    else joined.push(each);
  }
  return joined;
}

function toPart(content: { readonly type: string }): Part[] {
  const { text, data, mediaType, filename } = content as {
    readonly text?: unknown;
    readonly data?: unknown;
    readonly mediaType?: unknown;
    readonly filename?: unknown;
  };
  if (content.type === 'text' && typeof text === 'string') return [{ text }];
  if (content.type !== 'file' || typeof mediaType !== 'string') return [];
  const labels = { mediaType, ...(typeof filename === 'string' && { filename }) };
  if (data instanceof URL) return [{ url: data.href, ...labels }];
  return typeof data === 'string' ? [{ raw: data, ...labels }] : [];
}
