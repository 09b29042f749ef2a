import { join } from 'node:path';
import type { Command } from 'commander';
import { beforeAll, describe, expect, it } from 'vitest';
import { clientCommandNames, createProgram } from '../src/cli/program.ts';
import { documentationPages, readPage } from './support/docs/code-blocks.ts';

let program: Command;

beforeAll(async () => {
  program = await createProgram([]);
});

/** A command that does something, by all its words. */
interface Leaf {
  words: string;
  command: Command;
}

/** Every command that does something by itself. */
function leavesOf(command: Command, before: string[] = []): Leaf[] {
  const words = [...before, command.name()];
  const isOnlyName =
    command.commands.length > 0 && command.registeredArguments.length === 0 && command.options.length === 0;
  return [
    ...(isOnlyName ? [] : [{ words: words.join(' '), command }]),
    ...command.commands.flatMap((each) => leavesOf(each, words)),
  ];
}

const leaves = (): Leaf[] => program.commands.flatMap((each) => leavesOf(each));

function usageOf({ words, command }: Leaf): string {
  const places = command.registeredArguments.map((each) => {
    const name = `${each.name()}${each.variadic ? '…' : ''}`;
    return each.required ? `<${name}>` : `[${name}]`;
  });
  return [words, ...places].join(' ');
}

function optionTable(options: Command['options']): string[] {
  const told = ({
    defaultValue,
    defaultValueDescription,
    argChoices,
    mandatory,
  }: Command['options'][number]) => {
    const isNothing = defaultValue === false || (Array.isArray(defaultValue) && defaultValue.length === 0);
    const value = defaultValueDescription ?? (isNothing ? undefined : defaultValue);
    return [
      argChoices && `one of ${argChoices.join(', ')}`,
      value !== undefined && `default ${String(value)}`,
      mandatory && 'needed',
    ]
      .filter(Boolean)
      .join('; ');
  };
  return [
    '| flag | what it does | |',
    '|---|---|---|',
    ...options.map(
      (each) => `| \`${each.flags.replaceAll('|', '\\|')}\` | ${each.description} | ${told(each)} |`,
    ),
  ];
}

/** What a command does and which flags it has, without those that many share. */
function section(leaf: Leaf, shared: ReadonlySet<string>): string {
  const { command } = leaf;
  // What has no agent to speak to may have a flag of the same name that does something else.
  const isSharing = command.options.some(({ long }) => long === '--agent-card');
  const own = command.options.filter(({ flags, hidden }) => !hidden && !(isSharing && shared.has(flags)));
  return [
    `### \`${usageOf(leaf)}\``,
    '',
    command.description(),
    ...(own.length === 0 ? [] : ['', ...optionTable(own)]),
    '',
  ].join('\n');
}

function page(): string {
  const clients = new Set(clientCommandNames);
  const isClient = ({ words }: Leaf) => clients.has(words.split(' ')[0] ?? '');
  const get = leaves().find(({ words }) => words === 'card get')?.command;
  const options = get?.options.filter(({ long }) => long !== '--validate' && long !== '--extended') ?? [];
  const shared = new Set(options.map(({ flags }) => flags));
  const ours = leaves().filter((leaf) => !isClient(leaf));
  const theirs = leaves().filter(isClient);
  const anchor = (leaf: Leaf) =>
    usageOf(leaf)
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-');
  const rows = (list: Leaf[]) =>
    list.map((leaf) => `| [\`${leaf.words}\`](#${anchor(leaf)}) | ${leaf.command.description()} |`);
  return `# Commands

Everything that \`dragoman\` does in a shell. \`dragoman <command> --help\` shows the same, with examples.

| command | what it does |
|---|---|
${rows(ours).join('\n')}

Those that speak to an agent as a client, as the official command-line specification has them:

| command | what it does |
|---|---|
${rows(theirs).join('\n')}

\`dragoman --version\` prints the version, \`dragoman help <command>\` the help of a command. Every command takes
\`-h, --help\`, and \`NO_COLOR\` turns colours off.

## Build, connect, test

${ours.map((leaf) => section(leaf, new Set())).join('\n')}
These commands end with 0 when all is well, with 1 when something went wrong, and with 2 when the command line is not as it
should be, or a file that it names: \`--check\` and \`mock validate\` too. \`test\`, \`conformance\` and \`doctor\` end with 1
when what they looked at is not in order, and \`conformance\` with 2 when that could not be found out. With \`-o json\` one
JSON document is all that is on standard output; with \`tap\`, one on each line.

## The client commands

\`\`\`sh
dragoman demo-server --port 4000                        # an agent to try all this with
dragoman card get -a http://localhost:4000
dragoman send -a http://localhost:4000 "slow 3" --stream
dragoman send -a http://localhost:4000 "ask me"         # then paste what it prints after "Resume:"
\`\`\`

${theirs.map((leaf) => section(leaf, shared)).join('\n')}
## Flags of every command that speaks to an agent

These are for the client commands.

${optionTable(options).join('\n')}

An agent card reference is a host or an origin, the URL of a card, or a file. A host alone is asked over https, and this
machine over http. A duration is a number with \`ms\`, \`s\`, \`m\` or \`h\`.

## Where settings come from

From a flag; else from the environment; else from the nearest \`.env\` here or above, or the file that \`--config\` names;
else from \`~/.config/a2a-cli/.env\`; else the default. The variable of a flag is \`A2ACLI_\` and its name in capitals:
\`--agent-card\` is \`A2ACLI_AGENT_CARD\`, \`--bearer\` is \`A2ACLI_BEARER\`. \`--stream\` is a flag only. \`dragoman config show\`
tells each value and its source, and no secret. A file with a secret should be readable by you alone (\`chmod 600\`).
Tokens of \`auth login\` are in \`~/.config/a2a-cli/tokens.json\`, go to the agent they were got for and nowhere else, and
are gone when the file is removed. A secret on the command line is seen by other processes and stays in the history.

## What is printed

Text is made of \`Label: value\` lines; what needs more lines is a block: its label, indented lines, an empty line. There
are no colours, and control characters of an agent become \`\uFFFD\`. Warnings and progress go to standard error.

\`-o json\` prints one document in the words of A2A 1.0, whatever version the agent speaks; \`--stream\` makes it one object
on each line, as things happen:

| command | \`-o json\` | \`-o json --stream\` |
|---|---|---|
| \`send\` | \`SendMessageResponse\` | a \`StreamResponse\` for each event |
| \`task get\`, \`task cancel\` | \`Task\` | \`Task\` |
| \`task list\` | \`ListTasksResponse\` | a \`Task\` on each line |
| \`task subscribe\` | the last \`Task\` | a \`StreamResponse\` for each event |
| \`card get\` | \`AgentCard\` | \`AgentCard\` |
| \`task push-config …\` | \`TaskPushNotificationConfig\`, a list of them, or \`{}\` | the same |

A failure prints \`{"error": {"code", "message", "hint", "a2aCode"}}\` instead. The code is the protocol's own name of the
error, such as \`TaskNotFoundError\`, or one of those below.

## Exit codes

What becomes of a task is told by its state and is no matter of the exit code.

| exit code | when | code of the error |
|---|---|---|
| 0 | the command did what it was told | |
| 1 | anything else went wrong | the protocol's, \`A2ACLI_ERR_CARD_INVALID\`, \`A2ACLI_ERR_INTERNAL\` |
| 2 | a mistake on the command line | \`A2ACLI_ERR_USAGE\` |
| 3 | there is no agent, or no card | \`A2ACLI_ERR_UNREACHABLE\`, \`A2ACLI_ERR_CARD_NOT_FOUND\` |
| 4 | credentials are missing or wrong | \`A2ACLI_ERR_CREDENTIALS_MISSING\`, \`A2ACLI_ERR_AUTH_FAILED\` |
| 5 | \`--timeout\` was up | \`A2ACLI_ERR_TIMEOUT\` |
| 130 | Ctrl-C; the task goes on | |

Which requirements of the official command-line specification are met is told in
[a2a-cli-compliance-0.2.md](a2a-cli-compliance-0.2.md).

This page is made by \`npx vitest run test/cli-reference.test.ts -u\`.
`;
}

describe('the reference of the commands', () => {
  it('is made of the commands', async () => {
    await expect(page()).toMatchFileSnapshot('../docs/reference/cli.md');
  });

  it('has every command and every flag that the help shows', () => {
    const text = page();
    for (const { words, command } of leaves()) {
      const help = command.helpInformation();
      const flags = [...help.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, flag = '']) => flag);
      expect(flags, words).toContain('--help');
      expect(flags.filter((flag) => !text.includes(flag))).toEqual([]);
      expect(text).toContain(`### \`${words}`);
    }
  });

  it('has an example in the help of every command', () => {
    const without = leaves().filter(({ command }) => {
      let help = '';
      command.configureOutput({ writeOut: (part) => (help += part) }).outputHelp();
      return !/Examples:\n {2}\$ /.test(help);
    });
    expect(without.map(({ words }) => words)).toEqual([]);
  });

  it('is kept to by every command line on the pages', () => {
    const wrong = documentationPages()
      .filter((page) => page !== join('docs', 'reference', 'cli.md') && page !== 'CHANGELOG.md')
      .flatMap((page) => mistakesOf(readPage(page)).map((mistake) => `${page}: ${mistake}`));
    expect(wrong).toEqual([]);
    expect(mistakesOf('`dragoman serve a.js --sotre x`, `dragoman sreve a.js`')).toEqual([
      'serve has no --sotre',
      'there is no command sreve',
    ]);
  });
});

/** What is wrong with the command lines in a text, as far as commands and flags go. */
function mistakesOf(text: string): string[] {
  // In code, and not where a name stands for the command or for what it wants.
  const lines = [...text.matchAll(/(?:^|`|\$ |npx |&& )dragoman ([a-z][^`\n|]*)/gm)].map(
    ([, line = '']) => line,
  );
  return lines.flatMap((line) => {
    const words = line.replace(/ #.*$/, '').split(/\s+/);
    let command = program;
    let path = '';
    for (const word of words) {
      const next = command.commands.find((each) => each.name() === word);
      if (!next) break;
      command = next;
      path = `${path} ${word}`.trim();
    }
    if (path === '') return words[0] === 'help' ? [] : [`there is no command ${words[0]}`];
    const known = new Set(command.options.flatMap(({ long, short }) => [long, short]));
    return words
      .filter((word) => /^--?[a-z]/.test(word))
      .map((word) => word.replace(/[=,.;:)]+.*$/, ''))
      .filter((flag) => !known.has(flag) && flag !== '--help' && flag !== '-h')
      .map((flag) => `${path} has no ${flag}`);
  });
}
