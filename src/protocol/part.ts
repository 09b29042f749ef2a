/** A JSON object with arbitrary keys and values. */
export type Metadata = { [key: string]: unknown };

/** Metadata key for data that a protocol version cannot represent. It describes the object that carries it and is never copied. */
export const compatKey = 'urn:a2a:compat:v1';

/** Optional fields of all kinds of parts. */
interface PartLabels {
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

/** Concatenates the text parts. */
export function textOf(parts: readonly Part[]): string {
  let text = '';
  for (const part of parts) if ('text' in part) text += part.text;
  return text;
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
