import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { repositoryRoot, runDragoman, RunningCommand, runNode } from './support/cli/run-command.ts';
import { spawn } from 'node:child_process';

const isLinux = process.platform === 'linux';
const inode = (path: string): number => statSync(path).ino;
const load = (name: string): Promise<unknown> =>
  import(pathToFileURL(join(repositoryRoot, 'scripts/build', name)).href);
const { processesUsing } = (await load('processes-using.mjs')) as {
  processesUsing: (folder: string) => { pid: number; command: string }[];
};
const { replaceFolder } = (await load('replace-folder.mjs')) as {
  replaceFolder: (from: string, to: string) => void;
};

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-build-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('scripts/build.mjs', () => {
  it('does not touch dist/ with --if-stale when its inputs are unchanged', async () => {
    const before = inode(join(repositoryRoot, 'dist'));
    const { code, stdout, stderr } = await runNode(['scripts/build.mjs', '--if-stale']).ended;
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(inode(join(repositoryRoot, 'dist'))).toBe(before);
  });

  it.runIf(isLinux)('refuses to replace dist/ while a program runs from it', async () => {
    const before = inode(join(repositoryRoot, 'dist'));
    const server = runDragoman(['serve', 'examples/echo.js', '--port', '0']);
    await server.prints(/^listening on/);
    const { code, stderr } = await runNode(['scripts/build.mjs']).ended;
    await server.stop();
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: dist\/ is in use by process \d+: .+\nhint: Stop it and build again/);
    expect(inode(join(repositoryRoot, 'dist'))).toBe(before);
  });
});

describe('node_modules/.bin/dragoman', () => {
  it('starts the built command without a build', async () => {
    const child = spawn('npx', ['dragoman', '--version'], { cwd: repositoryRoot });
    const { code, stdout } = await new RunningCommand(child).ended;
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  });
});

describe.runIf(isLinux)('processesUsing', () => {
  it.each([
    ['an absolute path', () => join(folder, 'used', 'main.mjs')],
    ['a path relative to its working directory', () => './used/main.mjs'],
    ['a symbolic link', () => join(folder, 'link.mjs')],
  ])('finds a process started with %s', async (_how, path) => {
    mkdirSync(join(folder, 'used'), { recursive: true });
    writeFileSync(join(folder, 'used', 'main.mjs'), `console.log('up'); setInterval(() => {}, 1000);`);
    rmSync(join(folder, 'link.mjs'), { force: true });
    symlinkSync('used/main.mjs', join(folder, 'link.mjs'));
    const running = runNode([path()], { cwd: folder });
    await running.prints(/up/);
    expect(processesUsing(join(folder, 'used')).map(({ pid }) => pid)).toEqual([running.process.pid]);
    expect(processesUsing(join(folder, 'us'))).toEqual([]);
    await running.stop('SIGKILL');
    expect(processesUsing(join(folder, 'used'))).toEqual([]);
  });
});

describe('replaceFolder', () => {
  const file = (name: string): string => join(folder, name, 'file');
  const create = (name: string): void => {
    mkdirSync(join(folder, name));
    writeFileSync(file(name), name);
  };

  it('puts the new folder in the place of the old one and removes the old one', () => {
    create('old');
    create('new');
    replaceFolder(join(folder, 'new'), join(folder, 'old'));
    expect(readFileSync(file('old'), 'utf8')).toBe('new');
    expect(() => statSync(join(folder, 'new'))).toThrow('ENOENT');
    expect(() => statSync(join(folder, 'new-old'))).toThrow('ENOENT');
  });

  it('works without an old folder', () => {
    create('first');
    replaceFolder(join(folder, 'first'), join(folder, 'place'));
    expect(readFileSync(file('place'), 'utf8')).toBe('first');
  });
});
