import { type Command, Option } from 'commander';
import type { BridgeFlags } from './run.ts';
import { parsePort } from '../../inputs/parse-port.ts';

const examples = `
Examples:
  $ dragoman bridge --agent https://weather.example.com --mcp stdio
  $ dragoman bridge --agent weather=https://weather.example.com --agent maps=http://localhost:4001 --mcp http --port 4100
  $ dragoman bridge --command "node agent.js" --url http://localhost:4000 --mcp stdio
  $ dragoman bridge --config bridge.yaml --mcp stdio
  $ dragoman bridge --agent weather=https://weather.example.com --bearer weather=WEATHER_TOKEN --mcp stdio
  $ dragoman bridge --agent https://weather.example.com --header 'X-Key: \${WEATHER_KEY}' --mcp stdio

Credentials stay here: no tool takes them. --bearer names an environment variable, and \${NAME} in a header is filled
in from the environment, so that neither the configuration of a host nor the list of processes shows a secret.`;

const gathered = (value: string, before: string[] | undefined): string[] => [...(before ?? []), value];

/** Declares the command that shows agents as tools of MCP. */
export function addBridge(program: Command): void {
  program
    .command('bridge')
    .description('Shows the skills of agents as tools of an MCP server.')
    .option('-a, --agent <[name=]url>', 'an agent; may be given several times', gathered)
    .option('-c, --config <file>', 'a file that says which agents there are, and how they are started')
    .option('--command <line>', 'a program to start and look after: the agent at --url')
    .option('--url <[name=]url>', 'where the agent of --command answers')
    .addOption(
      new Option('--mcp <form>', 'how hosts speak to it').choices(['stdio', 'http']).makeOptionMandatory(),
    )
    .addOption(
      new Option('-p, --port <number>', 'the port for --mcp http; 0 for any free one')
        .argParser(parsePort)
        .default(4100),
    )
    .option('--header <[name=]header>', 'a header for requests to an agent; ${NAME} is filled in', gathered)
    .option(
      '--bearer <[name=]variable>',
      'the environment variable that has the token for an agent',
      gathered,
    )
    .option(
      '--token <variable>',
      'the environment variable that has the token that callers of --mcp http need',
    )
    .addOption(
      new Option('--wait <seconds>', 'how long a call waits before it gives a handle to go on with')
        .argParser(Number)
        .default(50),
    )
    .addOption(
      new Option('--refresh <seconds>', 'how often the cards are looked at for skills that changed')
        .argParser(Number)
        .default(60),
    )
    .addOption(
      new Option('-o, --output <form>', 'what to print once it listens; json only with --mcp http')
        .choices(['text', 'json'])
        .default('text'),
    )
    .addOption(
      new Option('--log <form>', 'how to write to standard error').choices(['text', 'json']).default('text'),
    )
    .addHelpText('after', examples)
    .action(async (flags: BridgeFlags) => {
      const { runBridgeCommand: runBridge } = await import('./run.ts');
      await runBridge(flags);
    });
}
