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

/** Returns true if a text continues the text before it: both have the same labels and no metadata. */
export function continuesText(last: Part | undefined, next: Part | undefined): boolean {
  const first = last as Partial<TextPart> | undefined;
  const second = next as Partial<TextPart> | undefined;
  return (
    first?.text !== undefined &&
    second?.text !== undefined &&
    first.metadata === undefined &&
    second.metadata === undefined &&
    first.mediaType === second.mediaType &&
    first.filename === second.filename
  );
}

/** Joins all texts that follow each other. Other agents may store one part per chunk. */
export function joinTexts(parts: readonly Part[]): Part[] {
  const joined: Part[] = [];
  for (const part of parts) {
    const last = joined.at(-1) as TextPart;
    if (!continuesText(last, part)) joined.push(part);
    else joined[joined.length - 1] = { ...last, text: last.text + (part as TextPart).text };
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
