// Adds optional builds for other platforms to package-lock.json that the current registry does not offer.
// Without them `npm ci` treats the lock file as outdated; with them it skips builds for other platforms.
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

/** Resolves a package like Node, from the folder of the package upwards. */
function isThere(path, name) {
  for (let at = path; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    if (lock.packages[`${at === '' ? '' : `${at}/`}node_modules/${name}`]) return true;
    if (at === '' || !at.includes('/node_modules/')) {
      return lock.packages[`node_modules/${name}`] !== undefined;
    }
  }
}

/** Parses the platform of a name such as `@scope/binding-linux-x64-musl`. */
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
