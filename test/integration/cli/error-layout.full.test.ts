import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { runDragoman } from '../../support/cli/run-command.ts';

/** What happened, where (one indented line each), the code of client commands, what to do. */
const layout = /^error: [A-Z-/].*[^.\n]\n(?: {2}\S.*\n)*(?:code: A2ACLI_ERR_\w+\n)?hint: [A-Z].*[.?]\n$/;

/** A port that refuses connections. */
const closed = 'http://127.0.0.1:9';

describe('error layout of all commands', () => {
  let cwd: string;

  beforeAll(() => {
    cwd = mkdtempSync(join(tmpdir(), 'dragoman-errors-'));
    writeFileSync(join(cwd, 'bad.yaml'), 'agents: { a: { modul: x } }');
    writeFileSync(join(cwd, 'text'), 'no JSON');
  });

  it.each<[string, number]>([
    ['serve missing.js', 2],
    ['up -c bad.yaml', 2],
    ['gateway -c bad.yaml', 2],
    ['gateway -c missing.yaml', 2],
    ['mock bad.yaml', 2],
    ['test bad.yaml', 2],
    ['test missing.yaml', 2],
    ['init text/project --yes', 2],
    ['push list --store sqlite:missing.db', 2],
    [`conformance ${closed} --timeout 1s`, 2],
    ['conformance diff text text', 2],
    ['doctor nonsense', 2],
    ['load nonsense', 2],
    [`load ${closed}`, 1],
    ['bridge --mcp http', 2],
    ['actions invoke a/b --agent ftp://a', 2],
    [`actions list --agent ${closed}`, 1],
    ['console --store memory', 2],
    ['tap --read text', 2],
    ['tap', 2],
    [`send -a ${closed} hello`, 3],
    ['send hello', 2],
    ['card get -a ./missing.json', 3],
    ['task get', 2],
    [`auth login -a ${closed}`, 3],
    ['demo-server --port x', 2],
  ])('prints error, place and hint for: dragoman %s', async (line, exitCode) => {
    const { code, stderr } = await runDragoman(line.split(' '), { cwd }).ended;
    expect(stderr).toMatch(layout);
    expect(code).toBe(exitCode);
  });
});
