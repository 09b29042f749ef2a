import { prefixSize, writePrefix } from '../../dialects/protobuf/length-prefix.ts';

/** Key of a field that no message of A2A has: number 1000, bytes. */
const unknownField = [0xc2, 0x3e];

/** Bytes of the length of a field, as a varint of constant size. */
const lengthSize = 5;

/** Returns a message with its frame. */
export function frameMessage(message: Uint8Array): Buffer {
  const frame = Buffer.alloc(prefixSize + message.length);
  frame.set(message, prefixSize);
  writePrefix(frame);
  return frame;
}

/** Pads a message to a number of bytes, with a field that readers skip. */
export function padMessage(message: Uint8Array, bytes: number): Uint8Array {
  const overhead = unknownField.length + lengthSize;
  const length = Math.max(0, bytes - message.length - overhead);
  if (bytes <= message.length) return message;
  const varint = Array.from(
    { length: lengthSize },
    (_, i) => (Math.floor(length / 2 ** (7 * i)) & 0x7f) | (i < lengthSize - 1 ? 0x80 : 0),
  );
  return Buffer.concat([message, Buffer.from([...unknownField, ...varint]), Buffer.alloc(length)]);
}

/** Replaces two letters of the longest word of a message by bytes that are not valid UTF-8; lengths stay the same. */
export function corruptText(message: Uint8Array): Uint8Array {
  const text = Buffer.from(message).toString('latin1');
  let longest = { at: Math.max(0, message.length - 2), length: 0 };
  for (const { index, 0: word } of text.matchAll(/[\w-]{2,}/g))
    if (word.length > longest.length) longest = { at: index, length: word.length };
  const corrupted = Buffer.from(message);
  corrupted.set([0xc3, 0x28].slice(0, message.length), longest.at);
  return corrupted;
}
