import type { Part } from '../../protocol/part.ts';
import type { RequestSize } from './policy.ts';

/** Returns the size of a version-neutral request. Files are measured only if a limit asks for them. */
export function measureRequest(request: unknown, body: { readonly bytes: number }): RequestSize {
  const parts = (request as { message?: { parts?: readonly Part[] } }).message?.parts ?? [];
  return {
    get bytes() {
      return body.bytes;
    },
    parts: parts.length,
    get fileBytes() {
      let largest = 0;
      for (const part of parts) if ('raw' in part) largest = Math.max(largest, base64Bytes(part.raw));
      return largest;
    },
  };
}

/** Returns the number of bytes that a base64 text with padding represents. */
function base64Bytes(text: string): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return (text.length / 4) * 3 - padding;
}
