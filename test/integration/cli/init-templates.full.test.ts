import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import {
  linkPackages,
  readProjectManifest,
  runPackageScript,
  useInitFolder,
} from '../../support/cli/init-project.ts';
import {
  type CommandResult,
  repositoryRoot,
  runDragoman,
  runNode,
  type RunningCommand,
  serveModule,
} from '../../support/cli/run-command.ts';
import { startOpenAiStub } from '../../support/llm/openai-stub.ts';

const folder = useInitFolder();
let running: RunningCommand | undefined;

afterEach(async () => {
  await running?.stop();
  running = undefined;
});

function checkTypes(project: string): Promise<CommandResult> {
  return runNode([join(repositoryRoot, 'node_modules/ts7/bin/tsc'), '-p', '.'], { cwd: project }).ended;
}

describe('dragoman init --ts', () => {
  it('creates a TypeScript project whose types and tests pass', async () => {
    expect(await folder.init('my-agent', '--ts', '--yes')).toMatchObject({ code: 0, stderr: '' });
    const project = join(folder.path, 'my-agent');
    linkPackages(project, '@types', 'tsx');
    expect(readdirSync(project)).toEqual(expect.arrayContaining(['agent.ts', 'tsconfig.json']));
    expect(Object.keys(readProjectManifest(project).devDependencies ?? {})).toEqual([
      '@types/node',
      'tsx',
      'typescript',
    ]);
    expect(await checkTypes(project)).toMatchObject({ code: 0, stdout: '' });
    expect((await runPackageScript(project, 'test')).stdout).toContain('2 cases: 2 passed');
    const [, module = ''] = /serve (\S+)/.exec(readProjectManifest(project).scripts.start ?? '') ?? [];
    running = await serveModule(module, [], { cwd: project });
  });
});

describe('dragoman init --template ai-sdk', () => {
  it.each([['js'], ['ts']])('creates a project in %s whose tests pass without a model', async (language) => {
    const flags = language === 'ts' ? ['--ts'] : [];
    expect(await folder.init('poet', '--template', 'ai-sdk', ...flags)).toMatchObject({
      code: 0,
      stderr: '',
    });
    const project = join(folder.path, 'poet');
    linkPackages(project, 'ai', '@ai-sdk', '@types', 'tsx');
    expect(readProjectManifest(project)).toMatchObject({ engines: { node: '>=22.0.0' } });
    expect(Object.keys(readProjectManifest(project).dependencies)).toEqual([
      'dragoman',
      'ai',
      '@ai-sdk/openai-compatible',
    ]);
    expect((await runPackageScript(project, 'test')).stdout).toContain('1 case: 1 passed');
    if (language === 'ts') expect(await checkTypes(project)).toMatchObject({ code: 0, stdout: '' });
  });

  it('calls the model of MODEL_URL', async () => {
    await folder.init('poet', '--template', 'ai-sdk');
    const project = join(folder.path, 'poet');
    linkPackages(project, 'ai', '@ai-sdk');
    const stub = await startOpenAiStub('Roses ', 'are red.');
    try {
      const started = await serveModule('agent.js', [], {
        cwd: project,
        env: { MODEL_URL: stub.url, MODEL_NAME: 'rose-1', MODEL_API_KEY: 'k' },
      });
      running = started;
      const { stdout } = await runDragoman(['send', '-a', started.url, '-o', 'json', 'A poem']).ended;
      expect(stdout).toContain('are red.');
      expect(JSON.parse(stub.requests[0] ?? '')).toMatchObject({ model: 'rose-1', stream: true });
    } finally {
      await stub.close();
    }
  });

  it('exits with 2 for an unknown template', async () => {
    const { code, stderr } = await folder.init('poet', '--template', 'poem');
    expect(code).toBe(2);
    expect(stderr).toContain('echo, ai-sdk');
  });
});
