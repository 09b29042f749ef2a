/** `Buffer` in Node, Bun and Deno; undefined in browsers. */
const nodeBuffer = (globalThis as { Buffer?: typeof Buffer }).Buffer;

/** Decodes base64 or base64url, with or without padding, as ProtoJSON allows. */
export function fromBase64(text: string): Uint8Array {
  if (nodeBuffer) return nodeBuffer.from(text, 'base64');
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

/** Encodes bytes as base64 with padding. */
export function toBase64(bytes: Uint8Array): string {
  if (nodeBuffer) return nodeBuffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}
