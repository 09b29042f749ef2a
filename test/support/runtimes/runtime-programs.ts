import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { RunningCommand } from '../cli/run-command.ts';
import { installPackages } from '../process/install-package.ts';

/** Programs that run in every runtime. */
export const runtimeFixtures = fileURLToPath(
  new URL('../../integration/runtimes/fixtures/', import.meta.url),
);

/** Versions of the runtimes, which are installed from the npm registry. */
const versions = { bun: '1.4.4', deno: '2.9.6', workerd: '1.20261104.1' };

/** Returns the path of a binary that a platform package contains, or undefined after it has printed why it is missing. */
function installBinary(
  name: keyof typeof versions,
  platformPackage: string,
  path: string,
): string | undefined {
  const folder = installPackages(name, { [platformPackage]: versions[name] });
  return folder && join(folder, 'node_modules', platformPackage, path);
}

const { platform, arch } = process;

/** Installs Bun. */
export function findBun(): string | undefined {
  return installBinary('bun', `@oven/bun-${platform}-${arch === 'arm64' ? 'aarch64' : arch}`, 'bin/bun');
}

/** Installs Deno. */
export function findDeno(): string | undefined {
  return installBinary('deno', `@deno/${platform}-${arch}${platform === 'linux' ? '-glibc' : ''}`, 'deno');
}

/** Installs workerd, the runtime of Cloudflare Workers. */
export function findWorkerd(): string | undefined {
  return installBinary(
    'workerd',
    `@cloudflare/workerd-${platform}-${arch === 'x64' ? '64' : arch}`,
    'bin/workerd',
  );
}

/** Libraries that are optional and not installed. An import of them is left in a bundle and fails only if it is used. */
export const optionalImports = ['@opentelemetry/api'];

/** Bundles a program with esbuild. @returns the code and the modules that the bundle does not contain. */
export async function bundleWithEsbuild(entry: string, platform: 'browser' | 'node' = 'browser') {
  const { outputFiles, metafile, warnings } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: 'esm',
    platform,
    metafile: true,
    logLevel: 'silent',
  });
  const external = Object.values(metafile.outputs).flatMap(({ imports }) =>
    imports.filter((each) => each.external).map(({ path }) => path),
  );
  return { code: outputFiles[0]?.text ?? '', external, warnings: warnings.map(({ text }) => text) };
}

/** Bundles a program for a worker as Wrangler does, and returns the code. */
export async function bundleWorker(entry: string): Promise<string> {
  const { outputFiles, warnings } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    conditions: ['workerd', 'worker', 'browser'],
    logLevel: 'silent',
  });
  if (warnings.length > 0) throw new Error(JSON.stringify(warnings));
  return outputFiles[0]?.text ?? '';
}

/** Starts a bundled worker on a free port. */
export async function startWorkerd(
  binary: string,
  code: string,
  flags: readonly string[],
): Promise<RunningCommand & { url: string; remove: () => void }> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-worker-'));
  writeFileSync(join(folder, 'worker.js'), code);
  writeFileSync(
    join(folder, 'config.capnp'),
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "internet", network = (allow = ["public", "private", "local", "network"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const main :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "2025-09-01",
  compatibilityFlags = [${flags.map((flag) => JSON.stringify(flag)).join(', ')}],
);
`,
  );
  const running = new RunningCommand(
    spawn(binary, ['serve', 'config.capnp', '--control-fd=1'], { cwd: folder }),
  );
  const [, port = ''] = await running.prints(/"event":"listen".*"port":(\d+)/);
  return Object.assign(running, {
    url: `http://127.0.0.1:${port}`,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  });
}
