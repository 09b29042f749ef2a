/** A JSON object whose keys and values are up to whoever wrote it. */
export type Metadata = { [key: string]: unknown };

/**
 * The one metadata key under which a translation carries what the other side has no word for. It speaks of the very
 * thing it came with, so it is never passed on to another.
 */
export const compatKey = 'urn:a2a:compat:v1';

/** What every kind of part may carry beside its content. */
interface PartLabels {
  /** A file name, or a name for the content. */
  filename?: string;
  /** The media type of the content, such as `text/plain`. */
  mediaType?: string;
  metadata?: Metadata;
}

/** Plain text. An empty string is content too. */
export interface TextPart extends PartLabels {
  text: string;
}

/** Bytes, as standard base64 with padding, so that a part is always plain JSON. */
export interface RawPart extends PartLabels {
  raw: string;
}

/** A link to content that lives elsewhere. */
export interface UrlPart extends PartLabels {
  url: string;
}

/** Any JSON value, `null` included. Test with `'data' in part`, never by truthiness. */
export interface DataPart extends PartLabels {
  data: unknown;
}

/** One piece of a message or an artifact: exactly one of text, raw, url and data. */
export type Part = TextPart | RawPart | UrlPart | DataPart;

/** The name of the content member of a part. */
export type PartContent = 'text' | 'raw' | 'url' | 'data';

/** Says which content a part has. */
export function contentKind(part: Part): PartContent {
  if ('text' in part) return 'text';
  if ('raw' in part) return 'raw';
  if ('url' in part) return 'url';
  return 'data';
}

/** Joins the text parts, with nothing between them. */
export function textOf(parts: readonly Part[]): string {
  let text = '';
  for (const part of parts) if ('text' in part) text += part.text;
  return text;
}

/** Makes a part that holds bytes. */
export function rawPart(bytes: Uint8Array, labels: PartLabels = {}): RawPart {
  let binary = '';
  // Chunks keep the argument list of fromCharCode within the engine's limit.
  for (let at = 0; at < bytes.length; at += 0x80_00) {
    binary += String.fromCharCode(...bytes.subarray(at, at + 0x80_00));
  }
  return { raw: btoa(binary), ...labels };
}

/** Gives the bytes of a raw part. */
export function bytesOf(part: RawPart): Uint8Array {
  const binary = atob(part.raw);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}
