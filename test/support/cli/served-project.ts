import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { connect } from '../../../src/client/connect.ts';
import { artifactTexts, expectTask, userRequest } from '../engine/conversation.ts';
import { repositoryRoot, runDragoman, type RunningCommand } from './run-command.ts';

/** A project folder whose agent is served while its files change. */
export interface ServedProject {
  readonly path: string;
  write(name: string, text: string): void;
  /** Serves a module and waits until it listens. */
  serve(module: string, ...flags: string[]): Promise<RunningCommand & { url: string }>;
  /** Starts `dragoman serve` on a free port; it is stopped after the test. */
  start(module: string, ...flags: string[]): RunningCommand;
}

/**
 * Creates a project folder for each test, in which `dragoman` and the packages in the given folders are installed.
 *
 * @param env - environment of the served modules
 */
export function useServedProject(
  packages: readonly string[] = [],
  env: { [name: string]: string } = {},
): ServedProject {
  let path = '';
  let running: RunningCommand | undefined;
  beforeEach(() => {
    path = mkdtempSync(join(tmpdir(), 'dragoman-serve-'));
    mkdirSync(join(path, 'node_modules'));
    for (const each of packages) symlinkSync(each, join(path, 'node_modules', basename(each)));
    symlinkSync(repositoryRoot, join(path, 'node_modules', 'dragoman'));
    writeFileSync(join(path, 'package.json'), '{ "type": "module" }');
  });
  afterEach(async () => {
    await running?.stop();
    running = undefined;
    rmSync(path, { recursive: true, force: true });
  });
  return {
    get path() {
      return path;
    },
    write: (name, text) => writeFileSync(join(path, name), text),
    start(module, ...flags) {
      running = runDragoman(['serve', module, '--port', '0', ...flags], { cwd: path, env });
      return running;
    },
    async serve(module, ...flags) {
      const started = this.start(module, ...flags);
      const [, url = ''] = await started.prints(/^listening on (\S+)\n/);
      return Object.assign(started, { url });
    },
  };
}

/** Returns the reply of the agent at a URL. */
export async function replyOf(url: string, text = 'hello'): Promise<string> {
  const agent = connect(url);
  try {
    return artifactTexts(expectTask(await agent.send(userRequest(text)))).join('');
  } finally {
    await agent.close();
  }
}

/** Writes a file and waits until the agent was reloaded as often as expected. */
export async function changeFile(
  project: ServedProject,
  command: RunningCommand,
  name: string,
  text: string,
  reloads = 1,
): Promise<void> {
  project.write(name, text);
  await command.prints(new RegExp(`(?:Reloaded http[^]*){${reloads}}`), 'stderr');
}

/** Source of an agent that replies with the value of an expression. */
export const agentSource = (reply: string): string => `import { defineAgent } from 'dragoman';
export default defineAgent({ name: 'Greeter', description: 'Greets', process: () => ${reply} });`;
