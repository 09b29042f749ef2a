import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createFolder } from './create-folder.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'dragoman-folder-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

it('creates missing parents with the mode and returns the first of them', () => {
  const folder = join(root, 'a', 'b', 'c');
  expect(createFolder(folder, 0o700)).toBe(join(root, 'a'));
  expect(statSync(folder).isDirectory()).toBe(true);
  if (process.platform !== 'win32') expect(statSync(join(root, 'a')).mode & 0o777).toBe(0o700);
  expect(createFolder(folder)).toBeUndefined();
  expect(createFolder(join(folder, 'd'))).toBe(join(folder, 'd'));
});

it('throws if a parent is a file', () => {
  writeFileSync(join(root, 'file'), '');
  expect(() => createFolder(join(root, 'file'))).toThrow('EEXIST');
  expect(() => createFolder(join(root, 'file', 'x'))).toThrow('ENOTDIR');
});

it.runIf(existsSync('/proc/self'))('throws where the system cannot create folders', () => {
  expect(() => createFolder('/proc/x/y')).toThrow('ENOENT');
});
