/** Two bytes that no text in UTF-8 has one after the other. */
const noText = Buffer.from([0xc3, 0x28]);

/** Puts bytes that are no text into the first words of a JSON text that somebody would read. */
export function corruptUtf8(text: string): Buffer {
  const place = /"(?:text|name)":\s*"/.exec(text);
  const at = place ? place.index + place[0].length : text.lastIndexOf('"');
  return Buffer.concat([Buffer.from(text.slice(0, at)), noText, Buffer.from(text.slice(at))]);
}

/** Makes a JSON text as long as it is told to, by white space that means nothing. */
export function padJson(text: string, bytes: number): string {
  return text + ' '.repeat(Math.max(0, bytes - Buffer.byteLength(text)));
}

/** The first half of something. */
export function truncateToHalf(bytes: Buffer): Buffer {
  return bytes.subarray(0, Math.ceil(bytes.length / 2));
}

/** Replaces members, at every depth, and leaves those out that are to be null. */
export function overrideFields(value: unknown, override: unknown): unknown {
  if (!isObject(override)) return override;
  const members: { [name: string]: unknown } = isObject(value) ? { ...value } : {};
  for (const [name, replaced] of Object.entries(override)) {
    if (replaced === null) delete members[name];
    else members[name] = overrideFields(members[name], replaced);
  }
  return members;
}

function isObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
