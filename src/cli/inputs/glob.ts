import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Maximum number of files of one pattern. */
const maxFiles = 100_000;

/**
 * Returns the files of a pattern, sorted: the file itself, all files with one of the extensions below a directory, or
 * the matches of a glob with `*`, `?`, `**` and `{a,b}`. Node 20 has no built-in glob.
 */
export function expandGlob(pattern: string, extensions: readonly string[]): string[] {
  const stats = statSync(pattern, { throwIfNoEntry: false });
  if (stats?.isFile()) return [pattern];
  if (stats?.isDirectory()) return listFiles(pattern, new RegExp(`\\.(?:${extensions.join('|')})$`));
  const files = new Set<string>();
  for (const alternative of expandBraces(pattern.replaceAll('\\', '/')))
    for (const file of matchFiles(alternative)) files.add(file);
  return [...files].sort();
}

function matchFiles(pattern: string): string[] {
  const levels = pattern.split('/');
  const first = levels.findIndex((level) => /[*?]/.test(level));
  if (first < 0) return statSync(pattern, { throwIfNoEntry: false })?.isFile() ? [pattern] : [];
  const start = levels.slice(0, first).join('/');
  const directory = start === '' ? (pattern.startsWith('/') ? '/' : '.') : start;
  const expression = toRegExp(levels.slice(first));
  const prefix = directory === '.' && !pattern.startsWith('./') ? '' : `${directory.replace(/\/$/, '')}/`;
  return listFiles(directory, expression).map(
    (file) => prefix + file.slice(directory.length).replace(/^\//, ''),
  );
}

/** Lists the files below a directory whose relative path matches. */
function listFiles(directory: string, expression: RegExp): string[] {
  const found: string[] = [];
  const visit = (at: string, path: string): void => {
    for (const entry of readdirSync(at, { withFileTypes: true })) {
      // Skips hidden files and installed packages.
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      const inside = path === '' ? entry.name : `${path}/${entry.name}`;
      if (entry.isDirectory()) visit(join(at, entry.name), inside);
      else if (expression.test(inside) && found.length < maxFiles) found.push(`${directory}/${inside}`);
    }
  };
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory()) visit(directory, '');
  return found.sort();
}

function toRegExp(levels: readonly string[]): RegExp {
  let source = '';
  for (const [index, level] of levels.entries()) {
    const isLast = index === levels.length - 1;
    if (level === '**') source += isLast ? '.*' : '(?:[^/]+/)*';
    else source += `${level.replaceAll(/[.+^${}()|[\]\\*?]/g, toPattern)}${isLast ? '' : '/'}`;
  }
  return new RegExp(`^${source}$`);
}

function toPattern(character: string): string {
  if (character === '*') return '[^/]*';
  return character === '?' ? '[^/]' : `\\${character}`;
}

/** Expands `{a,b}` to one pattern per alternative. */
function expandBraces(pattern: string): string[] {
  const match = /^(.*?)\{([^{}]*)\}(.*)$/s.exec(pattern);
  if (!match) return [pattern];
  const [, before = '', inside = '', after = ''] = match;
  return inside.split(',').flatMap((alternative) => expandBraces(`${before}${alternative}${after}`));
}
