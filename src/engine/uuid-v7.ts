const pool = new Uint8Array(8 * 512);
let used = pool.length;
let lastTime = 0;
let count = 0;

/** Character codes of the next id. Dashes and version digit are constant. */
const codes: number[] = Array.from('00000000-0000-7000-8000-000000000000', (character) =>
  character.charCodeAt(0),
);
const digits: readonly number[] = Array.from('0123456789abcdef', (character) => character.charCodeAt(0));

function digit(value: number): number {
  return digits[value & 15] as number;
}

function setTime(time: number): void {
  lastTime = time;
  count = 0;
  const text = time.toString(16).padStart(12, '0');
  for (let i = 0; i < 12; i++) codes[i < 8 ? i : i + 1] = text.charCodeAt(i);
}

/** Positions of the two digits of each random byte. */
const positions = [19, 21, 24, 26, 28, 30, 32, 34];

/**
 * Generates a UUIDv7. Ids sort by creation time, which keeps database indexes of many tasks fast; 62 bits are random
 * and cannot be guessed.
 */
export function uuidV7(): string {
  const now = Date.now();
  if (now > lastTime) setTime(now);
  // More than 4,096 ids in a millisecond: use the next millisecond.
  else if (++count > 0xfff) setTime(lastTime + 1);
  codes[15] = digit(count >> 8);
  codes[16] = digit(count >> 4);
  codes[17] = digit(count);
  if (used >= pool.length) {
    globalThis.crypto.getRandomValues(pool);
    used = 0;
  }
  for (let i = 0; i < 8; i++) {
    const byte = pool[used++] as number;
    const position = positions[i] as number;
    codes[position] = i === 0 ? digit(((byte >> 4) & 3) | 8) : digit(byte >> 4);
    codes[position + 1] = digit(byte);
  }
  // One call creates a flat string; concatenation would create a rope.
  return String.fromCharCode(...codes);
}
