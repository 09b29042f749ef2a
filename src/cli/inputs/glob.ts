import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** How many files a pattern may give. */
const maxFiles = 100_000;

/**
 * Gives the files that a pattern stands for, in order: a file itself, every file of those types below a directory, or
 * a pattern with `*`, `?`, `**` and `{a,b}`. Node 20 has nothing for it.
 */
export function expandGlob(pattern: string, types: readonly string[]): string[] {
  const there = statSync(pattern, { throwIfNoEntry: false });
  if (there?.isFile()) return [pattern];
  if (there?.isDirectory()) return below(pattern, new RegExp(`\\.(?:${types.join('|')})$`));
  const found = new Set<string>();
  for (const each of alternativesOf(pattern.replaceAll('\\', '/')))
    for (const file of matching(each)) found.add(file);
  return [...found].sort();
}

function matching(pattern: string): string[] {
  const levels = pattern.split('/');
  const first = levels.findIndex((level) => /[*?]/.test(level));
  if (first < 0) return statSync(pattern, { throwIfNoEntry: false })?.isFile() ? [pattern] : [];
  const start = levels.slice(0, first).join('/');
  const directory = start === '' ? (pattern.startsWith('/') ? '/' : '.') : start;
  const expression = expressionOf(levels.slice(first));
  const prefix = directory === '.' && !pattern.startsWith('./') ? '' : `${directory.replace(/\/$/, '')}/`;
  return below(directory, expression).map((file) => prefix + file.slice(directory.length).replace(/^\//, ''));
}

/** The files below a directory whose path from there matches. */
function below(directory: string, expression: RegExp): string[] {
  const found: string[] = [];
  const visit = (at: string, path: string): void => {
    for (const entry of readdirSync(at, { withFileTypes: true })) {
      // What begins with a dot, and what was installed, is not meant.
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      const inside = path === '' ? entry.name : `${path}/${entry.name}`;
      if (entry.isDirectory()) visit(join(at, entry.name), inside);
      else if (expression.test(inside) && found.length < maxFiles) found.push(`${directory}/${inside}`);
    }
  };
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory()) visit(directory, '');
  return found.sort();
}

function expressionOf(levels: readonly string[]): RegExp {
  let source = '';
  for (const [index, level] of levels.entries()) {
    const isLast = index === levels.length - 1;
    if (level === '**') source += isLast ? '.*' : '(?:[^/]+/)*';
    else source += `${level.replaceAll(/[.+^${}()|[\]\\*?]/g, written)}${isLast ? '' : '/'}`;
  }
  return new RegExp(`^${source}$`);
}

function written(character: string): string {
  if (character === '*') return '[^/]*';
  return character === '?' ? '[^/]' : `\\${character}`;
}

/** The patterns that one with `{a,b}` stands for. */
function alternativesOf(pattern: string): string[] {
  const found = /^(.*?)\{([^{}]*)\}(.*)$/s.exec(pattern);
  if (!found) return [pattern];
  const [, before = '', inside = '', after = ''] = found;
  return inside.split(',').flatMap((each) => alternativesOf(`${before}${each}${after}`));
}
