// Generates a PNG of a town skyline, deterministic per town, without libraries.
import { createHash } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';

const width = 320;
const height = 200;
const shore = 140;

/** @param {string} town @returns {Uint8Array} the bytes of a PNG */
export function postcard(town) {
  const chance = createHash('sha256').update(town.toLowerCase()).digest();
  const roofs = roofline(chance);
  const sun = { x: 60 + (chance[0] % 200), y: 70 + (chance[1] % 50), radius: 22 };
  const rows = Buffer.alloc(height * (1 + width * 3));
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const at = y * (1 + width * 3) + 1 + x * 3;
      rows.set(colourAt(x, y, sun, roofs), at);
    }
  const head = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, 0]);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    pngChunk('IHDR', head),
    pngChunk('IDAT', deflateSync(rows)),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

/** The height of the skyline at each column: houses, domes and towers. */
function roofline(chance) {
  const roofs = new Array(width).fill(0);
  let x = 8;
  for (let index = 2; x < width - 24; index = 2 + ((index - 1) % 29)) {
    const kind = chance[index] % 4;
    const size = 10 + (chance[index + 1] % 16);
    if (kind === 0) for (let i = 0; i < 4; i++) roofs[x + i] = 34 + size;
    else
      for (let i = 0; i < size; i++) {
        const half = size / 2;
        const dome = kind === 1 ? Math.sqrt(Math.max(0, half * half - (i - half) * (i - half))) : 0;
        roofs[x + i] = 10 + (chance[index] % 13) + dome;
      }
    x += (kind === 0 ? 4 : size) + (chance[index + 1] % 5);
  }
  return roofs;
}

function colourAt(x, y, sun, roofs) {
  if (y < shore && y >= shore - roofs[x]) return [38, 28, 58];
  // The water mirrors the skyline with small waves.
  const seen = y < shore ? y : 2 * shore - y - Math.round(Math.sin(y * 1.7) * 2);
  const shiver = y < shore ? 0 : Math.round(Math.sin(y * 0.9) * 3);
  const column = roofs[Math.min(width - 1, Math.max(0, x + shiver))];
  if (y >= shore && seen >= shore - column * 0.7) return [52, 40, 84];
  const far = Math.hypot(x + shiver - sun.x, seen - sun.y);
  const sky = mix([72, 61, 139], [255, 158, 94], Math.min(1, Math.max(0, seen) / shore));
  const glow = mix(sky, [255, 236, 179], Math.max(0, 1 - far / 90) * 0.8);
  const colour = far < sun.radius ? [255, 245, 214] : glow;
  return y < shore ? colour : mix(colour, [40, 52, 104], 0.35);
}

function mix(from, to, share) {
  return from.map((value, index) => Math.round(value + (to[index] - value) * share));
}

function pngChunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const whole = Buffer.alloc(body.length + 8);
  whole.writeUInt32BE(data.length, 0);
  body.copy(whole, 4);
  whole.writeUInt32BE(crc32(body), body.length + 4);
  return whole;
}
