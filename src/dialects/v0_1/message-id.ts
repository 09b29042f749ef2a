import type { Message } from '../../protocol/message.ts';

const encoder = new TextEncoder();
// Hashing is synchronous and not re-entrant, so all calls share one buffer.
const words = new Int32Array(80);
const state = new Int32Array(5);
const tail = new Uint8Array(128);
const short = new Uint8Array(2048);

/** Processes the 64-byte block at `from`. */
function mix(bytes: Uint8Array, from: number): void {
  for (let i = 0, at = from; i < 16; i++, at += 4) {
    words[i] =
      ((bytes[at] as number) << 24) |
      ((bytes[at + 1] as number) << 16) |
      ((bytes[at + 2] as number) << 8) |
      (bytes[at + 3] as number);
  }
  for (let i = 16; i < 80; i++) {
    const x =
      (words[i - 3] as number) ^
      (words[i - 8] as number) ^
      (words[i - 14] as number) ^
      (words[i - 16] as number);
    words[i] = (x << 1) | (x >>> 31);
  }
  let a = state[0] as number;
  let b = state[1] as number;
  let c = state[2] as number;
  let d = state[3] as number;
  let e = state[4] as number;
  for (let i = 0; i < 80; i++) {
    // 32-bit rounding at each step keeps the engine in integer arithmetic.
    const f =
      i < 20
        ? ((b & c) | (~b & d)) + 0x5a827999
        : i < 40
          ? (b ^ c ^ d) + 0x6ed9eba1
          : i < 60
            ? ((b & c) | (b & d) | (c & d)) - 0x70e44324
            : (b ^ c ^ d) - 0x359d3e2a;
    const next = ((((((a << 5) | (a >>> 27)) + e) | 0) + (words[i] as number)) | 0) + (f | 0);
    e = d;
    d = c;
    c = (b << 30) | (b >>> 2);
    b = a;
    a = next | 0;
  }
  state[0] = (state[0] as number) + a;
  state[1] = (state[1] as number) + b;
  state[2] = (state[2] as number) + c;
  state[3] = (state[3] as number) + d;
  state[4] = (state[4] as number) + e;
}

/** Returns the UTF-8 bytes of a text, without allocation for short ASCII texts. */
function toBytes(text: string): Uint8Array {
  if (text.length > short.length) return encoder.encode(text);
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code > 0x7f) return encoder.encode(text);
    short[at] = code;
  }
  return short;
}

/** Computes the SHA-1 of a text into the state. Used as a fingerprint, not for security. */
function hash(text: string): void {
  const bytes = toBytes(text);
  const length = bytes === short ? text.length : bytes.length;
  state[0] = 0x67452301;
  state[1] = 0xefcdab89;
  state[2] = 0x98badcfe;
  state[3] = 0x10325476;
  state[4] = 0xc3d2e1f0;
  const fullBlocks = length - (length % 64);
  for (let at = 0; at < fullBlocks; at += 64) mix(bytes, at);
  const rest = length - fullBlocks;
  const padded = rest < 56 ? 64 : 128;
  for (let at = 0; at < rest; at++) tail[at] = bytes[fullBlocks + at] as number;
  tail[rest] = 0x80;
  for (let at = rest + 1; at < padded; at++) tail[at] = 0;
  for (let i = 0, bits = length * 8; bits > 0; i++, bits = Math.floor(bits / 256)) {
    tail[padded - 1 - i] = bits % 256;
  }
  mix(tail, 0);
  if (padded === 128) mix(tail, 64);
}

/** Lookup table, which is faster than formatting. */
const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

function hexOf(byte: number): string {
  return hex[byte & 0xff] as string;
}

/** Returns the UUID version 5 of a text. */
export function uuidV5(text: string): string {
  hash(text);
  const a = state[0] as number;
  const b = state[1] as number;
  const c = state[2] as number;
  const d = state[3] as number;
  return (
    `${hexOf(a >>> 24)}${hexOf(a >>> 16)}${hexOf(a >>> 8)}${hexOf(a)}-${hexOf(b >>> 24)}${hexOf(b >>> 16)}-` +
    `${hexOf(((b >>> 8) & 0x0f) | 0x50)}${hexOf(b)}-${hexOf(((c >>> 24) & 0x3f) | 0x80)}${hexOf(c >>> 16)}-` +
    `${hexOf(c >>> 8)}${hexOf(c)}${hexOf(d >>> 24)}${hexOf(d >>> 16)}${hexOf(d >>> 8)}${hexOf(d)}`
  );
}

/**
 * Derives the id of a message of a task without one. It is the same each time the task is read.
 *
 * @param salt - distinguishes equal messages: number of equal messages before it in a list.
 */
export function deriveMessageId(taskId: string, message: Omit<Message, 'messageId'>, salt = 0): string {
  return uuidV5(`${taskId}\n${salt}\n${JSON.stringify([message.role, message.parts, message.metadata])}`);
}

/** Returns true if a reader would derive the same id. */
export function isDerivedMessageId(taskId: string, message: Message): boolean {
  // Derived ids are UUIDs of version 5, so most other ids are recognized without hashing.
  return message.messageId[14] === '5' && message.messageId === deriveMessageId(taskId, message);
}
