import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { UsageError } from '../terminal/usage-error.ts';

let isEnabled = false;

/** Returns true for a TypeScript file. */
export function isTypeScript(file: string): boolean {
  return /\.[cm]?tsx?$/.test(file);
}

/**
 * Lets this process import TypeScript. Node 22.18 and later can do so; for others, `tsx` of the project is used.
 *
 * @throws {@link UsageError} with the command that installs tsx
 */
export async function enableTypeScript(file: string): Promise<void> {
  const { typescript } = process.features as { readonly typescript?: unknown };
  if (isEnabled || (typescript && !file.endsWith('x'))) return;
  const loader = findLoader(file);
  if (loader === undefined)
    throw new UsageError(
      `Node ${process.versions.node} cannot run ${file} without tsx`,
      'Run npm install --save-dev tsx, or use Node 22.18 or later.',
    );
  const { register } = (await import(loader)) as { register: () => unknown };
  register();
  isEnabled = true;
}

interface TsxManifest {
  readonly exports: { readonly './esm/api': { readonly import: { readonly default: string } } };
}

/** Returns the URL of tsx in the project of the file, or else of the one beside this package. */
function findLoader(file: string): string | undefined {
  for (const from of [file, import.meta.url]) {
    const require = createRequire(from);
    try {
      // Not the path that require.resolve() returns for tsx/esm/api: that is another build, for require().
      const manifest = require.resolve('tsx/package.json');
      const { exports } = require(manifest) as TsxManifest;
      return new URL(exports['./esm/api'].import.default, pathToFileURL(manifest)).href;
    } catch {
      // Not installed there.
    }
  }
  return undefined;
}
