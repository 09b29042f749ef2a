import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { taskStates } from '../src/protocol/task.ts';
import { runNode, repositoryRoot } from './support/cli/run-command.ts';

const images = join(repositoryRoot, 'docs/images');
const drawing = (name: string) => readFileSync(join(images, name), 'utf8');

describe('drawings', () => {
  it('match the output of scripts/drawings.mjs', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'dragoman-drawings-'));
    try {
      const { code, stderr } = await runNode(['scripts/drawings.mjs', folder]).ended;
      expect(stderr).toBe('');
      expect(code).toBe(0);
      const drawn = readdirSync(folder);
      expect(drawn).toEqual(['request-lifecycle.svg', 'task-states.svg']);
      for (const name of drawn)
        expect(readFileSync(join(folder, name), 'utf8'), 'run node scripts/drawings.mjs').toBe(drawing(name));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('have a title and a description for screen readers', () => {
    for (const name of ['request-lifecycle.svg', 'task-states.svg'])
      expect(drawing(name)).toMatch(/role="img"[^]*<title id="title">\w[^]*<desc id="description">\w/);
  });

  it('name existing source files', () => {
    const named = [...drawing('request-lifecycle.svg').matchAll(/[a-z]+\/[\w/-]*(?:\.ts)?(?=[ <])/g)];
    const paths = named.map(([path]) => path.replace('vX', 'v1_0'));
    const sources = paths.filter((path) => /^(server|dialects|engine|store|protocol)\//.test(path));
    expect(sources.length).toBeGreaterThan(12);
    expect(sources.filter((path) => !existsSync(join(repositoryRoot, 'src', path)))).toEqual([]);
  });

  it('contain every task state', () => {
    const text = drawing('task-states.svg');
    const known = taskStates.filter((state) => state !== 'unknown');
    expect(known.filter((state) => !text.includes(`>${state}<`))).toEqual([]);
  });
});
