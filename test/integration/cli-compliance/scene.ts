import { expect } from 'vitest';
import type { ServeOptions } from '../../../src/server/node/serve.ts';
import { startDemoServer, CliUser, type AgentScript } from '../../support/cli/client-command.ts';
import type { CommandResult } from '../../support/cli/run-command.ts';
import * as peers from './peers.ts';

type Options = Parameters<CliUser['run']>[1];

/** What a row is checked with: a person with the command, and agents. */
export type Scene = Awaited<ReturnType<typeof setScene>>;

const wordsOf = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');

/** Starts the demo agent, with and without streaming, and gives what rows are checked with. */
export async function setScene() {
  const person = new CliUser();
  const open: (() => unknown)[] = [];
  const later: peers.Later = (close) => void open.push(close);
  const [agent, plain] = await Promise.all([
    startDemoServer(person),
    startDemoServer(person, ['--no-streaming']),
  ]);

  const run = (words: string, options?: Options): Promise<CommandResult> =>
    person.run(wordsOf(words), options);

  /** Runs a command that has to end well, and gives its fields. */
  async function fields(
    words: string,
    options?: Options,
  ): Promise<{ [label: string]: string } & { text: string }> {
    const { code, stdout, stderr } = await run(words, options);
    expect(code, stderr).toBe(0);
    const read: { [label: string]: string } = {};
    for (const [, label = '', value = ''] of stdout.matchAll(/^(\w[\w ]*): (.*)$/gm)) read[label] ??= value;
    return { ...read, text: stdout };
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
    person,
    agent,
    plain,
    later,
    /** Starts a command that is not waited for. */
    start: (words: string) => person.start(wordsOf(words)),
    run,
    fields,
    document,
    lines,
    /** One more demo agent. */
    demo: async (flags: readonly string[] = []) => {
      const started = await startDemoServer(person, flags);
      later(() => started.stop('SIGKILL'));
      return started;
    },
    raw: (script: AgentScript) => peers.raw(later, script),
    recording: (options?: ServeOptions) => peers.recording(later, options),
    authorizationServer: () => peers.authorizationServer(later),
    oauthAgent: (scheme: object) => peers.oauthAgent(later, scheme),
    tlsAgent: (isMutual?: boolean) => peers.tlsAgent(later, isMutual),
    leave: async () => {
      for (const close of open) await close();
      await Promise.all([agent.stop('SIGKILL'), plain.stop('SIGKILL')]);
      person.removeHome();
    },
  };
}
