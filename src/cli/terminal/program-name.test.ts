import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { programName } from './program-name.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-name-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const script = join(folder, 'my project', 'main.js');
const programs = join(folder, 'bin');
mkdirSync(join(folder, 'my project'));
mkdirSync(programs);
writeFileSync(script, '');
symlinkSync(script, join(programs, 'dragoman'));

it('is the name of the command if the shell finds it', () => {
  expect(programName({ PATH: `/nowhere:${programs}` }, join(programs, 'dragoman'))).toBe('dragoman');
});

it('is npx for a program that npm has started, because npm extends PATH', () => {
  expect(programName({ PATH: programs, npm_command: 'exec' }, script)).toBe('npx dragoman');
});

it('runs the script with node if another program, or none, has the name', () => {
  expect(programName({ PATH: '/nowhere' }, script, folder)).toBe("node 'my project/main.js'");
  const others = mkdtempSync(join(folder, 'others-'));
  writeFileSync(join(others, 'dragoman'), '');
  expect(programName({ PATH: others }, script, folder)).toBe("node 'my project/main.js'");
});
