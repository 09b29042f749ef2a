import { expect } from 'vitest';
import type { ServeOptions } from '../../../src/server/node/serve.ts';
import { startDemoServer, CliUser, type AgentScript } from '../../support/cli/client-command.ts';
import type { CommandResult } from '../../support/cli/run-command.ts';
import * as peers from './peers.ts';

type Options = Parameters<CliUser['run']>[1];

/** Fixture of the rows: a user of the command, and agents. */
export type Scene = Awaited<ReturnType<typeof createScene>>;

const splitWords = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');

/** Starts a demo agent with streaming and one without, and returns the fixture. */
export async function createScene() {
  const user = new CliUser();
  const cleanups: (() => unknown)[] = [];
  const onClose: peers.OnClose = (close) => void cleanups.push(close);
  const [agent, polling] = await Promise.all([
    startDemoServer(user),
    startDemoServer(user, ['--no-streaming']),
  ]);

  /** Runs a command until it ends; with input, in a process of its own. */
  const run = (words: string, options?: Options): Promise<CommandResult> =>
    options?.input === undefined
      ? user.runInProcess(splitWords(words), options)
      : user.run(splitWords(words), options);

  /** Runs a command that must exit with 0 and returns its fields. */
  async function fields(
    words: string,
    options?: Options,
  ): Promise<{ [label: string]: string } & { text: string }> {
    const { code, stdout, stderr } = await run(words, options);
    expect(code, stderr).toBe(0);
    const labels: { [label: string]: string } = {};
    for (const [, label = '', value = ''] of stdout.matchAll(/^(\w[\w ]*): (.*)$/gm)) labels[label] ??= value;
    return { ...labels, text: stdout };
  }

  /** Runs a command that prints one JSON document. */
  async function document(words: string, exitCode = 0, options?: Options): Promise<any> {
    const { code, stdout, stderr } = await run(`${words} -o json`, options);
    expect(code, stderr).toBe(exitCode);
    return JSON.parse(stdout);
  }

  /** Runs a command that prints lines of JSON. */
  async function lines(words: string, exitCode = 0): Promise<any[]> {
    const { code, stdout, stderr } = await run(`${words} -o json --stream`);
    expect(code, stderr).toBe(exitCode);
    return stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  }

  return {
    user,
    agent,
    polling,
    onClose,
    /** Starts a command without waiting for its exit. */
    start: (words: string) => user.start(splitWords(words)),
    run,
    fields,
    document,
    lines,
    /** Starts another demo agent. */
    demo: async (flags: readonly string[] = []) => {
      const started = await startDemoServer(user, flags);
      onClose(() => started.stop('SIGKILL'));
      return started;
    },
    raw: (script: AgentScript) => peers.raw(onClose, script),
    recording: (options?: ServeOptions) => peers.recording(onClose, options),
    authorizationServer: () => peers.authorizationServer(onClose),
    oauthAgent: (scheme: object) => peers.oauthAgent(onClose, scheme),
    tlsAgent: (isMutual?: boolean) => peers.tlsAgent(onClose, isMutual),
    close: async () => {
      for (const close of cleanups) await close();
      await Promise.all([agent.stop('SIGKILL'), polling.stop('SIGKILL')]);
      user.removeHome();
    },
  };
}
