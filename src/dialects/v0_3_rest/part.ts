import type { Part } from '../../protocol/part.ts';
import { boxDataPart, partMetadata } from '../v0_3/part.ts';

/** Writes a part in the 0.3 protocol buffer format: identified by its member, with `data` nested twice. */
export function writePart(part: Part): unknown {
  if ('text' in part) return { text: part.text, metadata: partMetadata(part) };
  if ('raw' in part) {
    return {
      file: { fileWithBytes: part.raw, mimeType: part.mediaType, name: part.filename },
      metadata: part.metadata,
    };
  }
  if ('url' in part) {
    return {
      file: { fileWithUri: part.url, mimeType: part.mediaType, name: part.filename },
      metadata: part.metadata,
    };
  }
  const { data, metadata } = boxDataPart(part);
  return { data: { data }, metadata };
}
