const pool = new Uint8Array(8 * 512);
let used = pool.length;
let lastTime = 0;
let count = 0;
let prefix = '';

function begin(time: number): void {
  lastTime = time;
  count = 0;
  const text = time.toString(16).padStart(12, '0');
  prefix = `${text.slice(0, 8)}-${text.slice(8)}-7`;
}

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/**
 * Makes a UUID of version 7: ids that are made one after the other sort one after the other, which is what keeps a
 * database of many tasks quick. What is left of it, 62 bits, is random and cannot be guessed.
 */
export function newId(): string {
  const now = Date.now();
  if (now > lastTime) begin(now);
  // More than 4,096 in a millisecond: borrow the next one.
  else if (++count > 0xfff) begin(lastTime + 1);
  if (used >= pool.length) {
    globalThis.crypto.getRandomValues(pool);
    used = 0;
  }
  const at = used;
  used += 8;
  const byte = (i: number): string => hex[pool[at + i] as number] as string;
  const variant = hex[((pool[at] as number) & 0x3f) | 0x80] as string;
  const counter = count.toString(16).padStart(3, '0');
  return `${prefix}${counter}-${variant}${byte(1)}-${byte(2)}${byte(3)}${byte(4)}${byte(5)}${byte(6)}${byte(7)}`;
}
