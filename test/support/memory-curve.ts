import { writeFileSync } from 'node:fs';

/**
 * Writes resident memory as a text chart to a file whose name begins with the environment variable
 * `DRAGOMAN_MEMORY_CURVE`, if it is set.
 *
 * @param curve - pairs of a count and megabytes.
 */
export function writeMemoryCurve(name: string, curve: readonly (readonly [number, number])[]): void {
  const file = process.env.DRAGOMAN_MEMORY_CURVE;
  if (file === undefined) return;
  const rows = curve.map(([count, size]) => `${count}\t${size}\t${'#'.repeat(Math.round(size / 10))}`);
  writeFileSync(`${file}.${name}.txt`, `${name}\tMB\n${rows.join('\n')}\n`);
}
