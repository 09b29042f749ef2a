import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import packageJson from '../../../package.json' with { type: 'json' };
import { Document } from '../../../src/documents/document.ts';
import { readScenarios } from '../../../src/testkit/scenario/files/read-scenarios.ts';
import {
  runDragoman,
  type CommandResult,
  repositoryRoot,
  serveModule,
} from '../../support/cli/run-command.ts';
import { runInProcess } from '../../support/cli/run-in-process.ts';
import { callRpc } from '../../support/http/http-calls.ts';

const files = [
  'package.json',
  'agent.js',
  'scenarios/agent.yaml',
  'conformance.yaml',
  '.github/workflows/agent.yml',
  'README.md',
  '.gitignore',
];
let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'dragoman-init-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const init = (...args: string[]): Promise<CommandResult> =>
  runInProcess(['init', ...args], { cwd: directory, env: { NO_COLOR: '1' } });

describe('dragoman init', () => {
  let project: string;
  let result: CommandResult;
  const read = (path: string): string => readFileSync(join(project, path), 'utf8');
  /** Returns the arguments of a package script, which runs dragoman. */
  const script = (name: string): string[] => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const [command, ...words] = scripts[name]?.split(' ') ?? [];
    expect(command).toBe('dragoman');
    return words;
  };

  beforeAll(async () => {
    result = await init('my-agent', '--yes');
    project = join(directory, 'my-agent');
    mkdirSync(join(project, 'node_modules'));
    symlinkSync(repositoryRoot, join(project, 'node_modules', 'dragoman'));
  });

  it('creates a project and prints the next steps', async () => {
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(files.filter((path) => !existsSync(join(project, path)))).toEqual([]);
    const steady = result.stdout.replace(directory, 'DIRECTORY');
    await expect(steady).toMatchFileSnapshot('../../golden/cli/init.txt');
  });

  it('declares its dependency, scenarios and workflow steps', () => {
    expect(JSON.parse(read('package.json'))).toMatchObject({
      name: 'my-agent',
      type: 'module',
      engines: packageJson.engines,
      dependencies: { dragoman: `^${packageJson.version}` },
    });
    expect(readScenarios(read('scenarios/agent.yaml'), 'agent.yaml')).toHaveLength(2);
    const workflow = Document.parse(read('.github/workflows/agent.yml'), 'agent.yml').value as any;
    const steps = workflow.jobs.agent.steps.flatMap(({ run }: { run?: string }) => run ?? []).join('\n');
    expect(steps).toMatch(/npm test[^]*npm start[^]*npm run conformance/);
  });

  it('creates tests that pass', async () => {
    const { code, stdout, stderr } = await runDragoman(script('test'), { cwd: project }).ended;
    expect(stderr).toContain('passed');
    expect(stdout).toContain('2 cases: 2 passed, 0 failed, 0 skipped');
    expect(code).toBe(0);
  });

  it('creates tests that fail when the agent responds differently', async () => {
    const changed = join(project, 'changed.js');
    writeFileSync(changed, read('agent.js').replace('What is your name?', 'Who?'));
    const words = script('test').map((word) => (word === 'agent.js' ? 'changed.js' : word));
    const { code, stdout } = await runDragoman(words, { cwd: project }).ended;
    expect(stdout).toContain('2 cases: 1 passed, 1 failed, 0 skipped');
    expect(code).toBe(1);
  });

  it('creates an agent that passes the conformance suite', {
    timeout: 120_000,
  }, async () => {
    expect(script('start')).toEqual(['serve', 'agent.js']);
    const running = await serveModule('agent.js', [], { cwd: project });
    try {
      const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'one two three' }] };
      const { result } = await callRpc(running.url, 'SendMessage', { message }, '1.0');
      expect(result.task).toMatchObject({
        status: { state: 'TASK_STATE_COMPLETED', message: { parts: [{ text: 'That was 3 words.' }] } },
        artifacts: [{ parts: [{ text: 'one two three ' }] }],
      });
      const words = script('conformance').map((word) => word.replace('http://127.0.0.1:4000', running.url));
      const { code, stdout } = await runDragoman(words, { cwd: project }).ended;
      expect(stdout).toMatch(/\b0 failed/);
      expect(code).toBe(0);
    } finally {
      await running.stop();
    }
  });

  it('writes nothing when a file exists', async () => {
    mkdirSync(join(directory, 'taken'));
    writeFileSync(join(directory, 'taken', 'agent.js'), 'mine');
    const { code, stderr } = await init('taken', '--yes');
    expect(code).toBe(2);
    expect(stderr).toContain('agent.js already exists in ');
    expect(readdirSync(join(directory, 'taken'))).toEqual(['agent.js']);
    expect(readFileSync(join(directory, 'taken', 'agent.js'), 'utf8')).toBe('mine');
  });

  it('writes to an existing directory and prints JSON', async () => {
    mkdirSync(join(directory, 'empty'));
    const { code, stdout } = await runInProcess(['init', '.', '-o', 'json'], {
      cwd: join(directory, 'empty'),
    });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ directory: join(directory, 'empty'), files });
  });

  it('does not prompt without a terminal', async () => {
    const inner = join(directory, 'inner');
    mkdirSync(inner);
    const { code, stdout } = await runDragoman(['init', '-o', 'json'], { cwd: inner }).ended;
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ directory: join(inner, 'my-agent') });
  });

  it.each<[string, RegExp]>([
    ['node_modules', /Invalid project name "node_modules"/],
    ['Bad Name', /Invalid project name "Bad Name"/],
    ['../-x', /Invalid project name "-x"/],
    ['file', /file is a file/],
    // The system cannot create folders there.
    ...(existsSync('/proc/self') ? [['/proc/x', /Cannot write to \/proc\/x/] as [string, RegExp]] : []),
  ])('rejects the name %j', async (name, message) => {
    writeFileSync(join(directory, 'file'), '');
    const { code, stderr } = await init('--', name);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });
});
