import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { A2AError } from '../../protocol/errors.ts';
import type { Agent } from '../../protocol/agent.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { enableTypeScript, isTypeScript } from '../process/enable-type-script.ts';

/**
 * Imports a module and returns its agent: the default export, or the export named `agent`.
 *
 * @throws {@link UsageError} if the file does not exist or exports no agent.
 */
export async function loadAgent(module: string): Promise<Agent> {
  const file = findModule(module);
  const exported = await importFile(file);
  for (const candidate of [exported.default, exported.agent]) if (isAgent(candidate)) return candidate;
  throw new UsageError(`${file} exports no agent`, exportHint(exported));
}

/** Returns the path of a module. @throws {@link UsageError} if it is not a file. */
export function findModule(module: string): string {
  const file = module.startsWith('file:') ? fileURLToPath(module) : resolve(module);
  if (!existsSync(file)) {
    throw new UsageError(
      `File not found: ${file}`,
      'Pass the path of a JavaScript or TypeScript file that exports an agent.',
    );
  }
  if (statSync(file).isDirectory()) {
    throw new UsageError(`${file} is a directory`, 'Pass the path of the file in it that exports an agent.');
  }
  return file;
}

async function importFile(file: string): Promise<{ [name: string]: unknown }> {
  if (isTypeScript(file)) await enableTypeScript(file);
  try {
    return (await import(pathToFileURL(file).href)) as { [name: string]: unknown };
  } catch (cause) {
    const { code } = cause as { code?: unknown };
    if (code === 'ERR_UNKNOWN_FILE_EXTENSION' && /\.ya?ml$/.test(file)) {
      throw new UsageError(
        `Node ${process.versions.node} cannot run ${file}`,
        'Start a mock script with dragoman mock, and a file with several agents with dragoman up -c.',
      );
    }
    if (code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX') {
      throw new UsageError(
        `${file} or one of its imports contains TypeScript that Node cannot run: ${(cause as Error).message}`,
        'Use no enums, namespaces and parameter properties (erasableSyntaxOnly), or compile the file first.',
        { cause },
      );
    }
    const place = findStackLocation(cause);
    throw new A2AError('INTERNAL_ERROR', `Cannot load ${file}`, {
      cause,
      ...(place !== undefined && { details: { places: place } }),
    });
  }
}

/** Returns the first file position in the stack of an error, if there is one. */
function findStackLocation(cause: unknown): string | undefined {
  const stack = cause instanceof Error ? (cause.stack ?? '') : '';
  const location = stack.split(/[\s()]/).find((word) => word.startsWith('file://') && /:\d+$/.test(word));
  return location?.replace(/^file:\/\//, 'at ');
}

function isAgent(candidate: unknown): candidate is Agent {
  if (typeof candidate !== 'object' || candidate === null) return false;
  const agent = candidate as { [name in keyof Agent]?: unknown };
  return [agent.card, agent.send, agent.stream, agent.getTask].every((each) => typeof each === 'function');
}

function exportHint(exported: { [name: string]: unknown }): string {
  const candidate = exported.default ?? exported.agent;
  if (typeof candidate === 'object' && candidate !== null && 'process' in candidate) {
    return 'The export is only a definition: wrap it, as in `export default defineAgent({ … })`.';
  }
  const names = Object.keys(exported);
  const found = names.length === 0 ? 'nothing' : names.join(', ');
  return `It exports ${found}. Export the agent with \`export default defineAgent({ … })\`.`;
}
