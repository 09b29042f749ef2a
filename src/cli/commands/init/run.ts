import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { createColors } from '../../terminal/colors.ts';
import { buildProjectFiles } from './project-files.ts';
import { UsageError } from '../../terminal/usage-error.ts';
import { packageVersion } from '../../../documents/package-version.ts';

/** What `dragoman init` is told. */
export interface InitFlags {
  yes?: boolean;
  output: 'text' | 'json';
}

const usualFolder = 'my-agent';

/** Writes an agent project, or says why not; then nothing is written. */
export async function runInitCommand(given: string | undefined, flags: InitFlags): Promise<void> {
  const folder = resolve(given ?? (await askFolder(flags)));
  const files = buildProjectFiles(nameOf(folder), packageVersion());
  expectFree(folder, Object.keys(files));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    // Whatever came into being meanwhile is not written over either.
    writeFileSync(join(folder, path), text, { flag: 'wx' });
  }
  const told =
    flags.output === 'json'
      ? JSON.stringify({ folder, files: Object.keys(files) })
      : summary(folder, Object.keys(files));
  process.stdout.write(`${told}\n`);
}

/** Asks where to, where there is somebody who can answer. */
async function askFolder({ yes, output }: InitFlags): Promise<string> {
  if (yes || output === 'json' || !process.stdin.isTTY || !process.stdout.isTTY) return usualFolder;
  const { dim } = createColors(process.stdout);
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const answer = await lines.question(`Folder of the project ${dim(`(${usualFolder})`)}: `);
    return answer.trim() || usualFolder;
  } finally {
    lines.close();
  }
}

/** The name of the project, which has to be the name of a package too. */
function nameOf(folder: string): string {
  const name = basename(folder);
  // A package cannot be called as what it is installed in or what it depends on.
  if (/^[a-z0-9][a-z0-9._-]{0,99}$/.test(name) && !['node_modules', 'dragoman'].includes(name)) return name;
  throw new UsageError(
    `"${name}" cannot be the name of a project`,
    'Name the folder with small letters, digits, ".", "_" and "-", as in my-agent.',
  );
}

function expectFree(folder: string, paths: readonly string[]): void {
  if (existsSync(folder) && !statSync(folder).isDirectory())
    throw new UsageError(`${folder} is a file`, 'Name a folder; it may be there already.');
  const taken = paths.filter((path) => existsSync(join(folder, path)));
  if (taken.length === 0) return;
  throw new UsageError(
    `${taken.join(', ')} ${taken.length === 1 ? 'is' : 'are'} in ${folder} already, so nothing was written`,
    'Name another folder, or put them elsewhere first.',
  );
}

function summary(folder: string, paths: readonly string[]): string {
  const { bold, cyan, dim, green } = createColors(process.stdout);
  const short = relative(process.cwd(), folder);
  const way = short.startsWith('..') ? folder : short;
  return [
    '',
    `  ${green('●')} ${bold(basename(folder))} ${dim(`in ${folder}`)}`,
    '',
    ...paths.map((path) => `    ${path}`),
    '',
    `  ${bold('Next')}`,
    ...(way === '' ? [] : [`    ${cyan(`cd ${way}`)}`]),
    `    ${cyan('npm install')}`,
    `    ${cyan('npm test')}   ${dim('# runs the scenarios against the agent')}`,
    `    ${cyan('npm start')}  ${dim('# serves it in every version of A2A')}`,
    '',
  ].join('\n');
}
