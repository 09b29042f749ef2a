import { existsSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { createFolder } from '../../../primitives/node/create-folder.ts';
import { createColors } from '../../terminal/colors.ts';
import { readManifest } from './package-manifest.ts';
import { buildProjectFiles, type projectTemplates, runScript } from './project-files.ts';
import type { OutputFormat } from '../../inputs/shared-options.ts';
import { UsageError } from '../../terminal/usage-error.ts';
import { packageVersion } from '../../../primitives/node/package-version.ts';

/** Flags of `dragoman init`. */
export interface InitFlags {
  yes?: boolean;
  ts?: boolean;
  template: keyof typeof projectTemplates;
  output: OutputFormat;
}

const defaultDirectory = 'my-agent';

/** Runs `dragoman init`. Writes either all files or none. */
export async function runInitCommand(argument: string | undefined, flags: InitFlags): Promise<void> {
  const directory = resolve(argument ?? (await promptDirectory(flags)));
  const manifest = join(directory, 'package.json');
  const existing = existsSync(manifest) ? readManifest(manifest) : undefined;
  const { created, changed, scripts } = buildProjectFiles({
    name: checkName(existing?.name ?? basename(directory)),
    version: packageVersion(),
    language: flags.ts ? 'ts' : 'js',
    template: flags.template,
    existing,
  });
  checkNoFileExists(directory, Object.keys(created));
  try {
    for (const [path, content] of Object.entries(created)) {
      createFolder(dirname(join(directory, path)));
      // `wx` also protects files that were created in the meantime.
      writeFileSync(join(directory, path), content, { flag: 'wx' });
    }
    for (const [path, content] of Object.entries(changed)) {
      const temporary = join(directory, `${path}.${process.pid}.tmp`);
      writeFileSync(temporary, content, { flag: 'wx' });
      renameSync(temporary, join(directory, path));
    }
  } catch (cause) {
    throw new UsageError(`Cannot write to ${directory}`, 'Name a directory that you can write to.', {
      cause,
    });
  }
  const files = Object.keys(created);
  const paths = Object.keys(changed);
  const text =
    flags.output === 'json'
      ? JSON.stringify({ directory, files, ...(paths.length > 0 && { changed: paths }) })
      : formatSummary(directory, [...paths.map((path) => `${path} (changed)`), ...files], scripts);
  process.stdout.write(`${text}\n`);
}

/** Prompts for the directory if standard input and output are a terminal. */
async function promptDirectory({ yes, output }: InitFlags): Promise<string> {
  if (yes || output === 'json' || !process.stdin.isTTY || !process.stdout.isTTY) return defaultDirectory;
  const { dim } = createColors(process.stdout);
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const answer = await lines.question(`Project directory ${dim(`(${defaultDirectory})`)}: `);
    return answer.trim() || defaultDirectory;
  } finally {
    lines.close();
  }
}

/** Returns the project name, which is also the package name. @throws UsageError if npm rejects it */
function checkName(name: string): string {
  // A package cannot depend on itself.
  if (/^[a-z0-9][a-z0-9._-]{0,99}$/.test(name) && !['node_modules', 'dragoman'].includes(name)) return name;
  throw new UsageError(
    `Invalid project name "${name}"`,
    'Name the directory with lower-case letters, digits, ".", "_" and "-", such as my-agent.',
  );
}

function checkNoFileExists(directory: string, paths: readonly string[]): void {
  if (existsSync(directory) && !statSync(directory).isDirectory())
    throw new UsageError(`${directory} is a file`, 'Name a new or existing directory.');
  const existing = paths.filter((path) => existsSync(join(directory, path)));
  if (existing.length === 0) return;
  throw new UsageError(
    `${existing.join(', ')} already ${existing.length === 1 ? 'exists' : 'exist'} in ${directory}; nothing was written`,
    'Name another directory, or move the files first.',
  );
}

function formatSummary(
  directory: string,
  files: readonly string[],
  { start, test }: { start: string; test: string },
): string {
  const { bold, cyan, dim, green } = createColors(process.stdout);
  const relativePath = relative(process.cwd(), directory);
  const path = relativePath.startsWith('..') ? directory : relativePath;
  return [
    '',
    `  ${green('●')} ${bold(basename(directory))} ${dim(`in ${directory}`)}`,
    '',
    ...files.map((file) => `    ${file}`),
    '',
    `  ${bold('Next')}`,
    ...(path === '' ? [] : [`    ${cyan(`cd ${path}`)}`]),
    `    ${cyan('npm install')}`,
    ...[
      { command: runScript(test), what: 'runs the scenarios against the agent' },
      { command: runScript(start), what: 'serves it in all A2A versions' },
    ].map(
      ({ command, what }) =>
        `    ${cyan(command)}${' '.repeat(runScript(start).length - command.length + 2)}${dim(`# ${what}`)}`,
    ),
    '',
  ].join('\n');
}
