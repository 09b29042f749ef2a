// Hashes everything that a build depends on.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const folders = ['src', 'console', 'scripts/build'];
const files = [
  'package.json',
  'package-lock.json',
  'scripts/build.mjs',
  'scripts/schemas.mjs',
  'tsconfig.json',
  'tsconfig.build.json',
];

/** Returns a hash of the names and contents of all inputs of `npm run build`. */
export function hashInputs() {
  const inputs = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !/\.test\.tsx?$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  const hash = createHash('sha256');
  for (const file of [...files, ...inputs].sort())
    hash.update(`${file}\0`).update(readFileSync(file)).update('\0');
  return hash.digest('hex');
}
