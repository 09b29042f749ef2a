import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import packageJson from '../package.json' with { type: 'json' };
import { connect } from '../src/client/connect.ts';
import {
  repositoryRoot,
  runDragoman,
  runNode,
  type RunningCommand,
  serveModule,
} from './support/cli/run-command.ts';
import { findFreePort } from './support/http/free-port.ts';
import { startOpenAiStub } from './support/llm/openai-stub.ts';
import { userMessage } from './support/server/stream-clients.ts';
import { codeBlocksOf, readPage } from './support/docs/code-blocks.ts';

const blocks = codeBlocksOf('README.md').filter(({ language }) => language === 'js');
const agent = blocks.find(({ code }) => code.startsWith('// agent.js'));
const modelAgent = blocks.find(({ code }) => code.includes('fromAiSdk'));
const mount = blocks.find(({ code }) => code.includes('toNodeHandler'));
const client = blocks.find(({ code }) => code.startsWith('// client.js'));

let folder: string;
let running: RunningCommand | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-readme-'));
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(repositoryRoot, join(folder, 'node_modules', 'dragoman'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
});

afterEach(async () => {
  await running?.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe('README', () => {
  it('mounts an agent in Express in 6 lines, which work', async () => {
    expect(
      mount?.code
        .trim()
        .split('\n')
        .filter((line) => line !== '').length,
    ).toBeLessThanOrEqual(6);
    symlinkSync(join(repositoryRoot, 'node_modules', 'express'), join(folder, 'node_modules', 'express'));
    const port = await findFreePort();
    writeFileSync(join(folder, 'agent.js'), agent?.code ?? '');
    const code = (mount?.code ?? '').replace(
      'listen(4000)',
      `listen(${port}, () => console.log('listening'))`,
    );
    writeFileSync(join(folder, 'app.js'), code);
    running = runNode(['app.js'], { cwd: folder });
    await running.prints(/listening/);
    const remote = connect(`http://127.0.0.1:${port}/agent`);
    expect(JSON.stringify(await remote.send({ message: userMessage('hello') }))).toContain('HELLO');
    await remote.close();
  });

  it('defines an agent in 15 lines and a client in 8', () => {
    expect(agent?.code).toContain('defineAgent');
    expect(agent?.code.trimEnd().split('\n').length).toBeLessThanOrEqual(15);
    expect(client?.code).toContain('connect');
    expect(client?.code.trimEnd().split('\n').length).toBeLessThanOrEqual(8);
  });

  it('contains an agent and a client that work together', async () => {
    writeFileSync(join(folder, 'agent.js'), agent?.code ?? '');
    const started = await serveModule('agent.js', [], { cwd: folder });
    running = started;
    const code = client?.code ?? '';
    expect(code).toContain('http://127.0.0.1:4000');
    writeFileSync(join(folder, 'client.js'), code.replace('http://127.0.0.1:4000', started.url));
    const { code: exitCode, stdout, stderr } = await runNode(['client.js'], { cwd: folder }).ended;
    expect(stderr).toBe('');
    expect(stdout).toBe('HELLO THERE \n');
    expect(exitCode).toBe(0);
  });

  it('contains an agent with a language model in 12 lines, which works', async () => {
    const code = modelAgent?.code ?? '';
    expect(code.trimEnd().split('\n').length).toBeLessThanOrEqual(12);
    for (const library of ['ai', '@ai-sdk'])
      symlinkSync(join(repositoryRoot, 'node_modules', library), join(folder, 'node_modules', library));
    writeFileSync(join(folder, 'poet.js'), code);
    const stub = await startOpenAiStub('Roses ', 'are red.');
    try {
      const started = await serveModule('poet.js', [], { cwd: folder, env: { MODEL_URL: stub.url } });
      running = started;
      const { stdout } = await runDragoman(['send', '-a', started.url, '-o', 'json', 'A poem, please']).ended;
      expect(stdout).toContain('are red.');
      expect(stub.requests[0]).toContain('A poem, please');
    } finally {
      await stub.close();
    }
  });

  it('lists every package export', () => {
    const named = [...readPage('README.md').matchAll(/^\| `(dragoman[\w/-]*)` \|/gm)].map(([, name]) => name);
    const exported = Object.keys(packageJson.exports)
      .filter((subpath) => subpath !== './package.json')
      .map((subpath) => subpath.replace(/^\./, 'dragoman'));
    expect(new Set(named)).toEqual(new Set(exported));
  });
});
