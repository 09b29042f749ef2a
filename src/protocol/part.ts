import type { Message } from './message.ts';
import type { Artifact, Task } from './task.ts';

/** A JSON object with arbitrary keys and values. */
export type Metadata = { [key: string]: unknown };

/** Metadata key for data that a protocol version cannot represent. It describes the object that carries it and is never copied. */
export const compatKey = 'urn:a2a:compat:v1';

/** Optional fields of all kinds of parts. */
export interface PartLabels {
  /** File name or label of the content. */
  filename?: string;
  /** Media type of the content, such as `text/plain`. */
  mediaType?: string;
  metadata?: Metadata;
}

/** Text content, may be empty. */
export interface TextPart extends PartLabels {
  text: string;
}

/** Bytes in standard base64 with padding, so that parts are plain JSON. */
export interface RawPart extends PartLabels {
  raw: string;
}

/** Link to external content. */
export interface UrlPart extends PartLabels {
  url: string;
}

/** Any JSON value including `null`: test with `'data' in part`, not by truthiness. */
export interface DataPart extends PartLabels {
  data: unknown;
}

/** Content of a message or artifact: exactly one of text, raw, url and data. */
export type Part = TextPart | RawPart | UrlPart | DataPart;

/** Name of the content field of a part. */
export type PartContent = 'text' | 'raw' | 'url' | 'data';

/** Returns the name of the content field. */
export function contentKind(part: Part): PartContent {
  if ('text' in part) return 'text';
  if ('raw' in part) return 'raw';
  if ('url' in part) return 'url';
  return 'data';
}

/**
 * Returns the text of parts, of a message or artifact, or of a task: that of its artifacts, one per line, or of the
 * message of its status if they have none.
 */
export function textOf(source: readonly Part[] | Message | Artifact | Task): string {
  if ('parts' in source) return partsText(source.parts);
  if (!('status' in source)) return partsText(source);
  const texts = (source.artifacts ?? []).map(({ parts }) => partsText(parts)).filter((text) => text !== '');
  return texts.length === 0 ? partsText(source.status.message?.parts ?? []) : texts.join('\n');
}

function partsText(parts: readonly Part[]): string {
  let text = '';
  for (const part of parts) if ('text' in part) text += part.text;
  return text;
}

/**
 * Joins two text parts that follow each other, such as the chunks of a text.
 *
 * @returns undefined if they are no texts, have metadata or differ in media type or file name
 */
export function joinText(first: Part | undefined, second: Part | undefined): TextPart | undefined {
  if (!first || !second || !('text' in first && 'text' in second)) return undefined;
  const { filename, mediaType } = first;
  if (filename !== second.filename || mediaType !== second.mediaType) return undefined;
  if (first.metadata !== undefined || second.metadata !== undefined) return undefined;
  const text = first.text + second.text;
  return filename === undefined && mediaType === undefined ? { text } : { ...first, text };
}

/** Joins all texts that follow each other. Other agents may store one part per chunk. */
export function joinTexts(parts: readonly Part[]): Part[] {
  const joined: Part[] = [];
  for (const part of parts) {
    const text = joinText(joined.at(-1), part);
    if (text) joined[joined.length - 1] = text;
    else joined.push(part);
  }
  return joined;
}

/** Creates a part with bytes. */
export function rawPart(bytes: Uint8Array, labels: PartLabels = {}): RawPart {
  let binary = '';
  // Chunks keep the argument list of fromCharCode below the limit of the engine.
  for (let at = 0; at < bytes.length; at += 0x80_00) {
    binary += String.fromCharCode(...bytes.subarray(at, at + 0x80_00));
  }
  return { raw: btoa(binary), ...labels };
}

/** Decodes the bytes of a raw part. */
export function bytesOf(part: RawPart): Uint8Array {
  const binary = atob(part.raw);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}
