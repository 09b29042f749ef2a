// Adds optional builds for other platforms to package-lock.json that npm left out, and the integrity of entries without one.
// Without the builds `npm ci` treats the lock file as outdated; with them it skips builds for other platforms.
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';

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
const withoutIntegrity = Object.entries(lock.packages).filter(
  ([path, { integrity, link }]) => path !== '' && integrity === undefined && !link,
);
let signed = 0;
for (let from = 0; from < withoutIntegrity.length; from += 8)
  await Promise.all(withoutIntegrity.slice(from, from + 8).map(addIntegrity));
if (added.length + signed > 0) writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`Added ${added.length} builds for other platforms and the integrity of ${signed} packages.`);
const remaining = withoutIntegrity.length - signed;
if (remaining > 0) console.log(`The registry does not know ${remaining} packages, which have no integrity.`);

/** Adds the integrity of a package, if the registry knows it. */
async function addIntegrity([path, entry]) {
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const spec = `${entry.name ?? name}@${entry.version}`;
  const { stdout } = await promisify(execFile)('npm', ['view', spec, 'dist.integrity']).catch(() => ({
    stdout: '',
  }));
  if (!stdout.startsWith('sha')) return;
  // After the version, as npm writes it.
  const { version, ...rest } = entry;
  lock.packages[path] = { version, integrity: stdout.trim(), ...rest };
  signed++;
}

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
    /(android|darwin|freebsd|linux|netbsd|openbsd|openharmony|sunos|aix|win32)-(arm64|arm|ia32|loong64|mips64el|ppc64|riscv64|s390x|x64)(?:-(\w+))?$/.exec(
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
