import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addClientCommands } from '../../src/cli/client-commands.ts';
import { demo, Person, scripted, wireTask } from '../support/client-command.ts';
import type { Running } from '../support/command.ts';
import type { RawServer } from '../support/raw-server.ts';

const person = new Person();
let agent: Running & { url: string };
let odd: RawServer;

beforeAll(async () => {
  agent = await demo(person);
  odd = await scripted({
    on: {
      SendMessage: () => ({
        task: wireTask('INPUT_REQUIRED', {
          status: {
            state: 'TASK_STATE_INPUT_REQUIRED',
            message: {
              messageId: 'm',
              role: 'ROLE_AGENT',
              parts: [{ text: 'Which one?\u001b[31m\nThis or that?' }],
            },
          },
          artifacts: [
            {
              artifactId: 'a1',
              name: 'all kinds',
              parts: [
                { text: 'first\n\nsecond' },
                { data: { k: [1, 2] } },
                { raw: 'AAEC', filename: 'b.bin', mediaType: 'application/octet-stream' },
                { url: 'https://files.example.com/y.pdf', mediaType: 'application/pdf' },
              ],
            },
          ],
        }),
      }),
    },
  });
  writeFileSync(join(person.home, 'broken.json'), '{');
});
afterAll(async () => {
  await odd.close();
  await agent.stop('SIGKILL');
  person.leave();
});

/** What differs from run to run, by names of its own. */
function settled(text: string): string {
  const names = new Map<string, string>();
  return text
    .replaceAll(agent.url, 'http://agent')
    .replaceAll(odd.url, 'http://odd')
    .replaceAll(person.home, '~')
    .replaceAll(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, (id) => {
      if (!names.has(id)) names.set(id, `id-${names.size + 1}`);
      return names.get(id) ?? '';
    })
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME');
}

const cases: { name: string; args: () => string[]; exitCode?: number }[] = [
  { name: 'card-get', args: () => ['card', 'get', '-a', agent.url] },
  { name: 'send', args: () => ['send', '-a', agent.url, 'hi there'] },
  { name: 'send-json', args: () => ['send', '-a', agent.url, 'file x', '-o', 'json'] },
  { name: 'send-message', args: () => ['send', '-a', agent.url, 'hello'] },
  { name: 'send-stream', args: () => ['send', '-a', agent.url, 'slow 0.1', '--stream'] },
  { name: 'send-stream-json', args: () => ['send', '-a', agent.url, 'fail', '--stream', '-o', 'json'] },
  { name: 'send-all-kinds', args: () => ['send', '-a', odd.url, 'x'] },
  { name: 'send-all-kinds-verbose', args: () => ['send', '-a', odd.url, 'x', '--verbose'] },
  { name: 'no-agent', args: () => ['send', '-a', 'http://127.0.0.1:9', 'x'], exitCode: 3 },
  { name: 'no-task', args: () => ['task', 'get', 'nobody', '-a', agent.url], exitCode: 1 },
  { name: 'no-task-json', args: () => ['task', 'get', 'nobody', '-a', agent.url, '-o', 'json'], exitCode: 1 },
  { name: 'no-card', args: () => ['card', 'get', '-a', 'broken.json'], exitCode: 1 },
  { name: 'config-show', args: () => ['config', 'show', '-a', agent.url, '--bearer', 's3cret'] },
];

describe('what the client commands print', () => {
  it.each(cases)('is as it was: $name', async ({ name, args, exitCode = 0 }) => {
    const { code, stdout, stderr } = await person.run(args(), { env: { FORCE_COLOR: '1', NO_COLOR: '' } });
    expect(code).toBe(exitCode);
    const told = [
      `$ dragoman ${args().join(' ')}`,
      stdout,
      ...(stderr === '' ? [] : ['--- standard error', stderr]),
    ];
    await expect(settled(told.join('\n'))).toMatchFileSnapshot(`../golden/cli/${name}.txt`);
  });
});

/** The tables of a command and those below it. */
function tables(command: Command, path: string, shared: ReadonlySet<string>): string[] {
  const words = [path, command.name()].filter((word) => word !== '').join(' ');
  const usage = command.registeredArguments.map((each) =>
    each.required ? `<${each.name()}>` : `[${each.name()}]`,
  );
  const own = command.options.filter(({ flags, hidden }) => !hidden && !shared.has(flags));
  return [
    ...(command.commands.length > 0
      ? []
      : [
          `### \`${[words, ...usage].join(' ')}\``,
          '',
          command.description(),
          ...(own.length === 0 ? [] : ['', ...optionTable(own)]),
          '',
        ]),
    ...command.commands.flatMap((each) => tables(each, words, shared)),
  ];
}

function optionTable(options: Command['options']): string[] {
  const told = ({ defaultValue, defaultValueDescription, argChoices }: Command['options'][number]) => {
    const value = defaultValueDescription ?? (defaultValue === false ? undefined : defaultValue);
    return [
      argChoices && `one of ${argChoices.join(', ')}`,
      value !== undefined && `default ${String(value)}`,
    ]
      .filter(Boolean)
      .join('; ');
  };
  return [
    '| flag | what it does | |',
    '|---|---|---|',
    ...options.map((each) => `| \`${each.flags}\` | ${each.description} | ${told(each)} |`),
  ];
}

function page(): string {
  const program = addedCommands();
  const get = program.commands.find((each) => each.name() === 'card')?.commands[0];
  const options = get?.options.filter(({ long }) => long !== '--validate' && long !== '--extended') ?? [];
  const shared = new Set(options.map(({ flags }) => flags));
  return `# The client commands

How to speak to an agent from a shell. \`dragoman <command> --help\` shows the same, with examples.

\`\`\`sh
dragoman demo-server --port 4000                        # an agent to try all this with
dragoman card get -a http://localhost:4000
dragoman send -a http://localhost:4000 "slow 3" --stream
dragoman send -a http://localhost:4000 "ask me"         # then paste what it prints after "Resume:"
\`\`\`

## Commands

${program.commands.flatMap((each) => tables(each, '', shared)).join('\n')}
## Flags of every command that speaks to an agent

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

This page is made by \`npx vitest run test/integration/cli-client-golden.test.ts -u\`.
`;
}

function addedCommands(): Command {
  const program = new Command('dragoman');
  addClientCommands(program);
  return program;
}

describe('the reference of the client commands', () => {
  it('is made of the commands', async () => {
    await expect(page()).toMatchFileSnapshot('../../docs/reference/cli.md');
  });

  it('has an example in the help of every command', async () => {
    const leaves = (command: Command): Command[] =>
      command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);
    for (const leaf of leaves(addedCommands())) {
      let help = '';
      leaf.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
      expect(help, leaf.name()).toMatch(/Examples:\n {2}\$ /);
    }
  });
});
