import { type Part, rawPart } from '../../../../src/protocol/part.ts';
import { formatByteSize } from '../../components/format-units.ts';

/** Bounds of what is sent with one message; the server of the console takes about as much. */
const maxFiles = 10;
const maxFileBytes = 4_000_000;
const maxTotalBytes = 5_000_000;

/** A file that goes with the next message. */
export interface Attachment {
  readonly name: string;
  readonly size: number;
  readonly part: Part;
}

/** Says why files cannot be added to those that are there; undefined when they can. */
export function attachmentError(
  there: readonly { readonly size: number }[],
  more: readonly { readonly name: string; readonly size: number }[],
): string | undefined {
  if (there.length + more.length > maxFiles) return `At most ${maxFiles} files go with one message.`;
  const large = more.find(({ size }) => size > maxFileBytes);
  if (large) {
    return `${large.name} has ${formatByteSize(large.size)}; a file may have ${formatByteSize(maxFileBytes)}. Send a link to it instead.`;
  }
  const total = [...there, ...more].reduce((sum, { size }) => sum + size, 0);
  if (total > maxTotalBytes) return `All files together may have ${formatByteSize(maxTotalBytes)}.`;
  return undefined;
}

/** Reads a file. */
export async function readFileAttachment(file: File): Promise<Attachment> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const mediaType = file.type === '' ? 'application/octet-stream' : file.type;
  return { name: file.name, size: file.size, part: rawPart(bytes, { filename: file.name, mediaType }) };
}
