import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  cliEntry,
  repositoryRoot,
  runDragoman,
  type RunningCommand,
  runNode,
} from '../../support/cli/run-command.ts';
import { readSummary } from '../../support/cli/up-summary.ts';
import { runUp, steadyText } from '../../support/cli/up-text.ts';
import { httpGet } from '../../support/http/http-calls.ts';
import { occupyPort } from '../../support/http/occupied-port.ts';

describe('dragoman up without its defaults', () => {
  const started: RunningCommand[] = [];
  afterEach(async () => {
    for (const each of started.splice(0)) await each.stop();
  });

  it('uses free ports and reports it when the default ports are in use', async () => {
    // Other processes may use the default ports at any time. Of two runs, at least one finds each port in use.
    const seen = new Set<string>();
    for (const running of [runDragoman(['up', '-o', 'json']), runDragoman(['up', '-o', 'json'])]) {
      started.push(running);
      const summary = await readSummary(running);
      for (const [url, port, name] of [
        [summary.gateway, '4000', 'the gateway'],
        [summary.console, '4200', 'the console'],
      ] as const) {
        const actual = new URL(url ?? '').port;
        const note = `info: port ${port} is in use; using another port for ${name}\n`;
        if (actual !== port) await running.prints(new RegExp(note), 'stderr');
        else expect(running.stderr).not.toContain(note);
        seen.add(actual);
      }
    }
    expect(seen.size).toBe(4);
  });

  it('starts without MCP when its package is not installed', async () => {
    const hooks = `export const resolve = (name, context, next) => {
      if (name.startsWith('@modelcontextprotocol/')) throw Object.assign(new Error(name), { code: 'ERR_MODULE_NOT_FOUND' });
      return next(name, context);
    }`;
    const url = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`;
    const register = `import { register } from 'node:module'; register(${JSON.stringify(url(hooks))});`;
    const running = runNode(['--import', url(register), cliEntry, 'up', '-o', 'json']);
    started.push(running);
    const summary = await readSummary(running);
    expect(summary.mcp).toBeUndefined();
    await running.prints(
      /info: MCP is not available: Run: npm install @modelcontextprotocol\/server\n/,
      'stderr',
    );
    expect((await httpGet(`${summary.gateway}/agents`)).json.agents).toHaveLength(2);
  });
});

describe('dragoman up -c', () => {
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'dragoman-up-'));
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it.each([
    ['the gateway', (port: number) => `listen: ${port}\nconsole: false\n`],
    ['MCP', (port: number) => `listen: 0\nconsole: false\nbridge: { mcp: { port: ${port} } }\n`],
    ['the console', (port: number) => `listen: 0\nconsole: { port: ${port} }\n`],
  ])('exits with 2 when the configured port of %s is in use', async (what, config) => {
    const { port, close } = await occupyPort();
    const agents = `agents:\n  echo: { module: ${join(repositoryRoot, 'examples/echo.js')} }\n`;
    writeFileSync(join(directory, 'dragoman.yaml'), `${config(port)}${agents}`);
    const { code, stderr } = await runDragoman(['up', '-c', 'dragoman.yaml'], { cwd: directory }).ended;
    await close();
    expect(code).toBe(2);
    expect(stderr).toContain(`Port ${port} for ${what} is in use\n`);
    expect(stderr).toContain('hint: Set another port in dragoman.yaml, or 0 for any free port.');
  });
});

describe('dragoman up text output', () => {
  it('has the same text with colors', async () => {
    const text = await runUp({ FORCE_COLOR: '1', NO_COLOR: '' });
    expect(text).toContain('\u001b[1mDragoman is up');
    // oxlint-disable-next-line no-control-regex -- matches escape sequences
    const plain = text.replaceAll(/\u001b\[\d+m/g, '');
    await expect(steadyText(plain)).toMatchFileSnapshot('../../golden/cli/up.txt');
  });
});
