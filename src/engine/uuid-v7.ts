const pool = new Uint8Array(8 * 512);
let used = pool.length;
let lastTime = 0;
let count = 0;

/** The characters of the id to be made; the dashes and the version stay where they are. */
const codes: number[] = Array.from('00000000-0000-7000-8000-000000000000', (sign) => sign.charCodeAt(0));
const digits: readonly number[] = Array.from('0123456789abcdef', (sign) => sign.charCodeAt(0));

function digit(value: number): number {
  return digits[value & 15] as number;
}

function begin(time: number): void {
  lastTime = time;
  count = 0;
  const text = time.toString(16).padStart(12, '0');
  for (let i = 0; i < 12; i++) codes[i < 8 ? i : i + 1] = text.charCodeAt(i);
}

/** Where the two digits of each random byte go. */
const places = [19, 21, 24, 26, 28, 30, 32, 34];

/**
 * Makes a UUID of version 7: ids that are made one after the other sort one after the other, which is what keeps a
 * database of many tasks quick. What is left of it, 62 bits, is random and cannot be guessed.
 */
export function uuidV7(): string {
  const now = Date.now();
  if (now > lastTime) begin(now);
  // More than 4,096 in a millisecond: borrow the next one.
  else if (++count > 0xfff) begin(lastTime + 1);
  codes[15] = digit(count >> 8);
  codes[16] = digit(count >> 4);
  codes[17] = digit(count);
  if (used >= pool.length) {
    globalThis.crypto.getRandomValues(pool);
    used = 0;
  }
  for (let i = 0; i < 8; i++) {
    const byte = pool[used++] as number;
    const place = places[i] as number;
    codes[place] = i === 0 ? digit(((byte >> 4) & 3) | 8) : digit(byte >> 4);
    codes[place + 1] = digit(byte);
  }
  // At once, so that the text is one piece in memory and not a chain of its parts.
  return String.fromCharCode(...codes);
}
