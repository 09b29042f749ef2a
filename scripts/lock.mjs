// Completes package-lock.json with the builds for other platforms that the registry at hand does not have.
// Without them `npm ci` takes the lock for out of date; with them it skips what is not for its platform.
import { readFileSync, writeFileSync } from 'node:fs';

const file = 'package-lock.json';
const lock = JSON.parse(readFileSync(file, 'utf8'));
const added = [];

for (const [path, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    if (isThere(path, name)) continue;
    const platform = platformOf(name);
    if (!platform || !/^\d+\.\d+\.\d+/.test(version)) {
      throw new Error(`${path} wants ${name}@${version}, which is for no platform known here`);
    }
    lock.packages[`node_modules/${name}`] = { version, dev: entry.dev, optional: true, ...platform };
    added.push(name);
  }
}

lock.packages = Object.fromEntries(
  Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, 'en')),
);
if (added.length > 0) writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
console.log(
  added.length === 0 ? 'The lock is complete.' : `Added ${added.length} builds for other platforms.`,
);

/** Looks where Node would, from the folder of the package outwards. */
function isThere(path, name) {
  for (let at = path; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    if (lock.packages[`${at === '' ? '' : `${at}/`}node_modules/${name}`]) return true;
    if (at === '' || !at.includes('/node_modules/')) {
      return lock.packages[`node_modules/${name}`] !== undefined;
    }
  }
}

/** Reads a platform out of a name such as `@scope/binding-linux-x64-musl`. */
function platformOf(name) {
  const match =
    /(android|darwin|freebsd|linux|openharmony|win32)-(arm64|arm|ia32|ppc64|riscv64|s390x|x64)(?:-(\w+))?$/.exec(
      name,
    );
  if (!match) return name.endsWith('wasm32-wasi') ? { cpu: ['wasm32'] } : undefined;
  const [, os, cpu, abi = ''] = match;
  const libc =
    os !== 'linux'
      ? undefined
      : abi.startsWith('musl')
        ? ['musl']
        : abi.startsWith('gnu')
          ? ['glibc']
          : undefined;
  return { os: [os], cpu: [cpu], libc };
}
