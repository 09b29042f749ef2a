import { join } from 'node:path';
import type { Command } from 'commander';
import { beforeAll, describe, expect, it } from 'vitest';
import { clientCommandNames, createProgram } from '../src/cli/program.ts';
import { documentationPages, readPage } from './support/docs/code-blocks.ts';

let program: Command;

beforeAll(async () => {
  program = await createProgram([]);
});

/** A command that can be run, with its full name. */
interface Leaf {
  words: string;
  command: Command;
}

/** Returns all commands that can be run. */
function leavesOf(command: Command, before: string[] = []): Leaf[] {
  const words = [...before, command.name()];
  const isGroup =
    command.commands.length > 0 && command.registeredArguments.length === 0 && command.options.length === 0;
  return [
    ...(isGroup ? [] : [{ words: words.join(' '), command }]),
    ...command.commands.flatMap((each) => leavesOf(each, words)),
  ];
}

const leaves = (): Leaf[] => program.commands.flatMap((each) => leavesOf(each));

function usageOf({ words, command }: Leaf): string {
  const parameters = command.registeredArguments.map((each) => {
    const name = `${each.name()}${each.variadic ? '…' : ''}`;
    return each.required ? `<${name}>` : `[${name}]`;
  });
  return [words, ...parameters].join(' ');
}

function optionTable(options: Command['options']): string[] {
  const formatValue = ({
    defaultValue,
    defaultValueDescription,
    argChoices,
    mandatory,
  }: Command['options'][number]) => {
    const isEmpty = defaultValue === false || (Array.isArray(defaultValue) && defaultValue.length === 0);
    const value = defaultValueDescription ?? (isEmpty ? undefined : defaultValue);
    return [
      argChoices && `one of ${argChoices.join(', ')}`,
      value !== undefined && `default ${String(value)}`,
      mandatory && 'required',
    ]
      .filter(Boolean)
      .join('; ');
  };
  return [
    '| Flag | Description | Value |',
    '|---|---|---|',
    ...options.map(
      (each) => `| \`${each.flags.replaceAll('|', '\\|')}\` | ${each.description} | ${formatValue(each)} |`,
    ),
  ];
}

/**
 * Meaning of each flag that several commands have. All its descriptions start with the meaning, so that a flag never
 * means two things.
 */
const vocabulary: { readonly [flags: string]: string } = {
  '-a, --agent-card': 'agent card',
  '-a, --agent': 'agent to use',
  '--a2a-version': 'A2A version',
  '--transport': 'transport to use',
  '-H, --header': "HTTP header 'Name: value' for each request",
  '--bearer-env': 'environment variable with the bearer token',
  '--insecure': 'do not verify TLS certificates (development only)',
  '--timeout': 'time limit',
  '--max-wait': 'maximum time to wait for a result',
  '-c, --config': 'configuration file',
  '--check': 'validate the file and exit',
  '--store': 'task store',
  '-p, --port': 'port to listen on',
  '--host': 'address to listen on',
  '--base-path': 'path prefix of all routes',
  '--webhook-url': 'URL under which the agent reaches the local webhook',
  '-o, --output': 'output format',
  '--log': 'log format on standard error',
  '--otlp': 'send traces and metrics to an OpenTelemetry collector',
  '--report': 'report format',
  '--text': 'message text to send',
  '--watch': 'reload the',
  '--file': 'file to attach',
  '--context-id': 'context ID to',
  '--task-id': 'task ID to',
  '--history': 'number of history messages to include',
  '--only': 'rule or area',
  '--operation': 'operation to call',
  '--wait': 'wait until the task reaches a terminal or interrupted state',
  '--poll-interval': 'time between polls while waiting',
  '--metadata': 'JSON object to send as request metadata',
};

/** Names of a flag without its value, such as `-o, --output`. */
const nameOf = ({ short, long }: Command['options'][number]): string =>
  [short, long].filter(Boolean).join(', ');

function vocabularyTable(): string {
  const rows = Object.entries(vocabulary).map(([name, meaning]) => {
    const users = leaves().filter(({ command }) =>
      command.options.some((option) => !option.hidden && nameOf(option) === name),
    );
    const clients = new Set(clientCommandNames);
    const isClient = ({ words }: Leaf) =>
      clients.has(words.split(' ')[0] ?? '') && !['demo-server', 'completion'].includes(words);
    const own = users.filter((leaf) => !isClient(leaf)).map(({ words }) => `\`${words}\``);
    const inClients = users.filter(isClient).map(({ words }) => `\`${words}\``);
    const shown = inClients.length > 6 ? ['client commands'] : inClients;
    return `| \`${name}\` | ${meaning.replace(/ to$/, ' to continue or to filter by')} | ${[...own, ...shown].join(', ')} |`;
  });
  return ['| Flag | Meaning | Commands |', '|---|---|---|', ...rows].join('\n');
}

/** Returns the section of a command; flags that all client commands share are listed once. */
function section(leaf: Leaf, shared: ReadonlySet<string>): string {
  const { command } = leaf;
  const isClient = command.options.some(({ long }) => long === '--agent-card');
  const own = command.options.filter(({ flags, hidden }) => !hidden && !(isClient && shared.has(flags)));
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
  const ownCommands = leaves().filter((leaf) => !isClient(leaf));
  const clientCommands = leaves().filter(isClient);
  const anchor = (leaf: Leaf) =>
    usageOf(leaf)
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-');
  const rows = (list: Leaf[]) =>
    list.map((leaf) => `| [\`${leaf.words}\`](#${anchor(leaf)}) | ${leaf.command.description()} |`);
  return `# Commands

All commands of \`dragoman\` with their flags. \`dragoman <command> --help\` prints the same, with examples.

| Command | Description |
|---|---|
${rows(ownCommands).join('\n')}

The client commands follow the official A2A command-line specification:

| Command | Description |
|---|---|
${rows(clientCommands).join('\n')}

\`dragoman --version\` prints the version and \`dragoman help <command>\` the help of a command. Every command has
\`-h, --help\`. \`NO_COLOR\` disables colors.

## Common flags

A flag has the same meaning in all commands:

${vocabularyTable()}

- **Agents.** \`conformance\`, \`load\`, \`doctor\` and \`console\` take the URL of an agent as an argument. Client commands take
  \`-a, --agent-card\`, as the official specification requires; \`conformance\` accepts it as well. \`bridge\`, \`actions\` and
  \`test\` take \`-a, --agent\`.
- **Durations** are a number with the unit \`ms\`, \`s\`, \`m\` or \`h\`; without a unit they are seconds.
- **Credentials.** \`--bearer\` is a token that a client command sends. Flags that end with \`-env\` take the name of an
  environment variable. \`--require-bearer\` of \`demo-server\` is a token that clients must send. \`--token\` of \`console\` is the
  access token of its page.

## Errors

All commands print errors on standard error in one layout: what happened, where, and what to do.

\`\`\`text
error: Invalid file: dragoman.yaml
  dragoman.yaml:2:8: agents.a.modul: unknown key
hint: Fix the errors above and start again; nothing was started.
\`\`\`

Client commands add a line \`code:\` with the code of the error, see [exit codes](#exit-codes). Usage errors exit with 2.

## Build, connect, test

${ownCommands.map((leaf) => section(leaf, new Set())).join('\n')}
These commands exit with 0 on success, with 1 on errors, and with 2 on usage errors, including invalid files (also with
\`--check\` and \`mock validate\`). \`test\`, \`conformance\` and \`doctor\` exit with 1 if a test or step failed,
\`load\` with 1 if no request succeeded;
\`conformance\` exits with 2 if the result is unknown. With \`-o json\`, standard output contains exactly one JSON document; with
\`tap\`, one per line.

## Client commands

\`\`\`sh
dragoman demo-server --port 4000                        # start an agent to try the commands with
dragoman card get -a http://localhost:4000
dragoman send -a http://localhost:4000 "slow 3" --stream
dragoman send -a http://localhost:4000 "ask me"         # then run the command printed after "Resume:"
\`\`\`

${clientCommands.map((leaf) => section(leaf, shared)).join('\n')}
## Flags of all client commands

${optionTable(options).join('\n')}

An agent card reference is a host or origin, the URL of a card, or a file. Hosts without a scheme use https, local hosts
use http.

## Settings

A setting is taken from the flag, then from the environment variable, then from the nearest \`.env\` file in the working
directory or a parent directory (or the file of \`--config\`), then from \`~/.config/a2a-cli/.env\`, then the default. The
variable of a flag is \`A2ACLI_\` and its name in upper case: \`--agent-card\` is \`A2ACLI_AGENT_CARD\`, \`--bearer\` is
\`A2ACLI_BEARER\`. \`--stream\` can only be set as a flag. \`dragoman config show\` prints each value with its source, without
secrets. A file with a secret should have mode 0600. Tokens of \`auth login\` are stored in
\`~/.config/a2a-cli/tokens.json\` and sent only to the agent they were issued for; \`auth logout\` deletes them. The file
has the client secret too if it is needed to renew a token. Other processes and the shell history can see secrets on the
command line.

## Output

Text consists of \`Label: value\` lines. Longer content is a block: its label, indented lines and an empty line. There are no
colors, and control characters of an agent are replaced by \`\uFFFD\`. Warnings and progress go to standard error.

\`-o json\` prints one document in the A2A 1.0 format, whatever version the agent uses; with \`--stream\`, one object per line
for each event:

| Command | \`-o json\` | \`-o json --stream\` |
|---|---|---|
| \`send\` | \`SendMessageResponse\` | a \`StreamResponse\` per event |
| \`task get\`, \`task cancel\` | \`Task\` | \`Task\` |
| \`task list\` | \`ListTasksResponse\` | a \`Task\` per line |
| \`task subscribe\` | the last \`Task\` | a \`StreamResponse\` per event |
| \`card get\` | \`AgentCard\` | \`AgentCard\` |
| \`task push-config …\` | \`TaskPushNotificationConfig\`, a list of them, or \`{}\` | the same |

An error prints \`{"error": {"code", "message", "hint", "a2aCode"}}\` instead. The code is the A2A name of the error, such as
\`TaskNotFoundError\`, or one of those below.

## Exit codes

The exit code of a client command does not depend on the state of the task.

| Exit code | Condition | Error code |
|---|---|---|
| 0 | the command succeeded | |
| 1 | other errors | the A2A name, \`A2ACLI_ERR_CARD_INVALID\`, \`A2ACLI_ERR_INTERNAL\` |
| 2 | usage error | \`A2ACLI_ERR_USAGE\` |
| 3 | agent or card not found | \`A2ACLI_ERR_UNREACHABLE\`, \`A2ACLI_ERR_CARD_NOT_FOUND\` |
| 4 | credentials missing or rejected | \`A2ACLI_ERR_CREDENTIALS_MISSING\`, \`A2ACLI_ERR_AUTH_FAILED\` |
| 5 | \`--timeout\` expired | \`A2ACLI_ERR_TIMEOUT\` |
| 130 | interrupted with Ctrl-C; the task keeps running | |

The compliance with the official specification is listed in
[a2a-cli-compliance-0.2.md](a2a-cli-compliance-0.2.md).

\`npx vitest run test/cli-reference.test.ts -u\` regenerates this page.
`;
}

describe('command reference', () => {
  it('is generated from the commands', async () => {
    await expect(page()).toMatchFileSnapshot('../docs/reference/cli.md');
  });

  it('contains every command and every flag of the help', () => {
    const text = page();
    for (const { words, command } of leaves()) {
      const help = command.helpInformation();
      const flags = [...help.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, flag = '']) => flag);
      expect(flags, words).toContain('--help');
      expect(flags.filter((flag) => !text.includes(flag))).toEqual([]);
      expect(text).toContain(`### \`${words}`);
    }
  });

  it('matches the command lines of all documentation pages', () => {
    const errors = documentationPages()
      .filter((file) => file !== join('docs', 'reference', 'cli.md') && file !== 'CHANGELOG.md')
      .flatMap((file) => commandLineErrors(readPage(file)).map((error) => `${file}: ${error}`));
    expect(errors).toEqual([]);
    expect(commandLineErrors('`dragoman serve a.js --sotre x`, `dragoman sreve a.js`')).toEqual([
      'serve has no --sotre',
      'unknown command sreve',
    ]);
  });
});

describe('command help', () => {
  const allCommands = (): Leaf[] => {
    const collect = (command: Command, before: string[]): Leaf[] => {
      const words = [...before, command.name()];
      return [
        { words: words.join(' '), command },
        ...command.commands.flatMap((each) => collect(each, words)),
      ];
    };
    return program.commands.flatMap((each) => collect(each, []));
  };
  const allFlags = () =>
    leaves().flatMap(({ words, command }) => command.options.map((option) => ({ words, option })));

  it('has an example for every command', () => {
    const without = leaves().filter(({ command }) => {
      let help = '';
      command.configureOutput({ writeOut: (part) => (help += part) }).outputHelp();
      return !/Examples:\n {2}\$ /.test(help);
    });
    expect(without.map(({ words }) => words)).toEqual([]);
  });

  it('describes commands with imperative sentences that end with a period', () => {
    // "Starts", "Shows" and the like are not imperative.
    const wrong = allCommands().filter(
      ({ command }) => !/^[A-Z][a-z]*[^s\s] [^]*\.$/.test(command.description()),
    );
    expect(wrong.map(({ words, command }) => `${words}: ${command.description()}`)).toEqual([]);
  });

  it('describes flags and arguments with lower-case phrases without a period', () => {
    const isPhrase = (text: string) =>
      /^(?:[a-z]|[A-Z][A-Z0-9]|OAuth|JavaScript)/.test(text) && !/[.\s]$/.test(text);
    const flags = allFlags().map(({ words, option }) => [words, option.long, option.description] as const);
    const parameters = leaves().flatMap(({ words, command }) =>
      command.registeredArguments.map((each) => [words, each.name(), each.description] as const),
    );
    expect([...flags, ...parameters].filter(([, , text]) => !isPhrase(text))).toEqual([]);
  });

  it('uses a flag for one meaning, one short name and one kind of value', () => {
    const byLongName = new Map<string, ReturnType<typeof allFlags>>();
    for (const flag of allFlags())
      byLongName.set(flag.option.long ?? '', [...(byLongName.get(flag.option.long ?? '') ?? []), flag]);
    const errors = [...byLongName].flatMap(([long, flags]) => {
      const names = new Set(flags.map(({ option }) => nameOf(option)));
      const kinds = new Set(flags.map(({ option }) => option.required));
      const descriptions = new Set(flags.map(({ option }) => option.description));
      const [name = ''] = names;
      const meaning = vocabulary[name];
      return [
        ...(names.size > 1 ? [`${long} has the names ${[...names].join(' and ')}`] : []),
        ...(kinds.size > 1 ? [`${long} has a value in some commands only`] : []),
        ...(descriptions.size > 1 && meaning === undefined ? [`${long} is not in the vocabulary`] : []),
        ...flags
          .filter(({ option }) => meaning !== undefined && !option.description.startsWith(meaning))
          .map(({ words, option }) => `${words} ${long} does not mean "${meaning}": ${option.description}`),
      ];
    });
    expect(errors).toEqual([]);
    const unused = Object.keys(vocabulary).filter(
      (name) => !allFlags().some(({ option }) => nameOf(option) === name),
    );
    expect(unused).toEqual([]);
  });

  it('takes durations with a unit and prints formats with -o, --output', () => {
    const timed = allFlags().filter(
      ({ option }) => option.required && !option.argChoices && /\btime\b/.test(option.description),
    );
    const wrong = timed.filter(({ option }) => !/<(duration|time)>$/.test(option.flags));
    expect(wrong.map(({ words, option }) => `${words} ${option.flags}`)).toEqual([]);
    const formats = allFlags().filter(({ option }) => option.long === '--output');
    for (const { words, option } of formats) {
      expect(option.flags, words).toBe('-o, --output <format>');
      expect(option.argChoices, words).toEqual(expect.arrayContaining(['text', 'json']));
    }
  });
});

/** Returns unknown commands and flags in the command lines of a text. */
function commandLineErrors(text: string): string[] {
  // Only in code, and not where a placeholder stands for the command.
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
    if (path === '') return words[0] === 'help' ? [] : [`unknown command ${words[0]}`];
    const known = new Set(command.options.flatMap(({ long, short }) => [long, short]));
    return words
      .filter((word) => /^--?[a-z]/.test(word))
      .map((word) => word.replace(/[=,.;:)]+.*$/, ''))
      .filter((flag) => !known.has(flag) && flag !== '--help' && flag !== '-h')
      .map((flag) => `${path} has no ${flag}`);
  });
}
