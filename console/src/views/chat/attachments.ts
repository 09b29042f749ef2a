import { type Part, rawPart } from '../../../../src/protocol/part.ts';
import { formatByteSize } from '../../components/format-units.ts';

/** Limits of one message; the console server has similar ones. */
const maxFiles = 10;
const maxFileBytes = 4_000_000;
const maxTotalBytes = 5_000_000;

/** A file of the next message. */
export interface Attachment {
  readonly name: string;
  readonly size: number;
  readonly part: Part;
}

/** Returns why files cannot be attached; undefined if they can. */
export function attachmentError(
  there: readonly { readonly size: number }[],
  more: readonly { readonly name: string; readonly size: number }[],
): string | undefined {
  if (there.length + more.length > maxFiles) return `A message may have at most ${maxFiles} files.`;
  const large = more.find(({ size }) => size > maxFileBytes);
  if (large) {
    return `${large.name} has ${formatByteSize(large.size)}; the limit is ${formatByteSize(maxFileBytes)}. Send a link instead.`;
  }
  const total = [...there, ...more].reduce((sum, { size }) => sum + size, 0);
  if (total > maxTotalBytes) return `All files together may have at most ${formatByteSize(maxTotalBytes)}.`;
  return undefined;
}

export async function readFileAttachment(file: File): Promise<Attachment> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const mediaType = file.type === '' ? 'application/octet-stream' : file.type;
  return { name: file.name, size: file.size, part: rawPart(bytes, { filename: file.name, mediaType }) };
}
