import { isJsonObject } from '../../primitives/json.ts';

/** A byte sequence that is not valid UTF-8. */
const invalidUtf8 = Buffer.from([0xc3, 0x28]);

/** Inserts invalid UTF-8 into the first `text` or `name` value of a JSON text. */
export function corruptUtf8(text: string): Buffer {
  const match = /"(?:text|name)":\s*"/.exec(text);
  const at = match ? match.index + match[0].length : text.lastIndexOf('"');
  return Buffer.concat([Buffer.from(text.slice(0, at)), invalidUtf8, Buffer.from(text.slice(at))]);
}

/** Pads a JSON text with white space to a length in bytes. */
export function padJson(text: string, bytes: number): string {
  return text + ' '.repeat(Math.max(0, bytes - Buffer.byteLength(text)));
}

export function truncateToHalf(bytes: Buffer): Buffer {
  return bytes.subarray(0, Math.ceil(bytes.length / 2));
}

/** Replaces fields recursively; `null` removes a field. */
export function overrideFields(value: unknown, override: unknown): unknown {
  if (!isJsonObject(override)) return override;
  const fields: { [name: string]: unknown } = isJsonObject(value) ? { ...value } : {};
  for (const [name, replacement] of Object.entries(override)) {
    if (replacement === null) delete fields[name];
    else fields[name] = overrideFields(fields[name], replacement);
  }
  return fields;
}
