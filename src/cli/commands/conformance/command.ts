import { type Command, InvalidArgumentError, Option } from 'commander';
import { countParser } from '../../inputs/parse-count.ts';
import { parsePositiveDuration } from '../../inputs/parse-duration.ts';
import { parsePort } from '../../inputs/parse-port.ts';
import { transportParser } from '../../inputs/parse-transport.ts';
import {
  durationOption,
  headerOption,
  insecureOption,
  type OutputFormat,
  outputOption,
  repeatableOption,
} from '../../inputs/shared-options.ts';
import { clientOperations, type ClientOperation } from '../../../conformance/clients/client-under-test.ts';
import type { ClientConformanceFlags } from './client.ts';
import type { ConformanceFlags, MatrixFlags } from './run.ts';
import type { SelfTestFlags } from './self-test.ts';

const examples = `
Examples:
  $ dragoman conformance http://localhost:4000
  $ dragoman conformance -a localhost:4000 -o json
  $ dragoman conformance https://agents.example.com/echo --header 'Authorization: Bearer …' --report html=report.html
  $ dragoman conformance http://localhost:4000 --fixtures fx --report junit --report sarif --report-dir results
  $ dragoman conformance http://localhost:4000 --only 3.1.1 --only stream --level must
  $ dragoman conformance http://localhost:4000 --transport GRPC
  $ dragoman conformance http://localhost:4000 --peer http://localhost:5000
  $ dragoman conformance diff before.json after.json
  $ dragoman conformance matrix http://localhost:4000 http://localhost:5000 --html matrix.html

The file of --prompts contains a message for each target state, so that more rules can be tested:
  completed: What is the time in Paris?
  input-required: Book me a flight
  slow: { text: Write a long report }

Exits with 0 if the agent is conformant, with 1 if it is not, and with 2 if the result is unknown.`;

/** Adds `dragoman conformance`. */
export function addConformance(program: Command): void {
  // Flags after the name of a subcommand belong to the subcommand, which needs positional options on the program too.
  const command = program
    .enablePositionalOptions()
    .command('conformance')
    .description('Test an agent for A2A conformance in every version and transport of its card.')
    .argument('[url]', 'URL of the agent or of its card')
    .option(
      '-a, --agent-card <ref>',
      'agent card: host, or URL of the agent or its card; replaces the argument',
    )
    .enablePositionalOptions();
  addConnectionFlags(command);
  addSelectionFlags(command);
  command
    .option('--peer <url>', 'URL of a second agent for interoperability tests')
    .addOption(
      repeatableOption('--peer-header <header>', "HTTP header 'Name: value' for requests to --peer", 'none'),
    )
    .option(
      '--delegate <text>',
      'prompt that makes the agent call another one, with {url} and {text}, or the ID of its skill',
    );
  addReportFlags(command);
  command
    .addHelpText('after', examples)
    .action(async (url: string | undefined, flags: ConformanceFlags) =>
      (await import('./run.ts')).runConformanceCommand(url, flags),
    );
  addSubcommands(command);
}

function addConnectionFlags(command: Command): void {
  command
    .addOption(headerOption())
    .addOption(userHeaderOption('--other-user-header', 'a second user, for isolation checks'))
    .addOption(
      userHeaderOption(
        '--restricted-user-header',
        'a user without permission to send messages, for authorization checks',
      ),
    )
    .addOption(taskTimeoutOption())
    .addOption(
      durationOption('--max-time <duration>', 'time limit of the whole run', '10m', parsePositiveDuration),
    )
    .addOption(
      new Option('--max-messages <n>', 'maximum number of messages to send')
        .argParser(countParser(1_000_000))
        .default(2_000),
    )
    .option(
      '--webhook-url <url>',
      'URL under which the agent reaches the local webhook (default: loopback address)',
    )
    .addOption(
      new Option(
        '--webhook-port <port>',
        'port of the local webhook (default: port of --webhook-url)',
      ).argParser(parsePort),
    )
    .addOption(insecureOption());
}

function addReportFlags(command: Command): void {
  command
    .addOption(
      repeatableOption(
        '--report <format>',
        'report format: json, markdown, junit, html, sarif or badge; format=FILE writes to a file',
        'text',
      ),
    )
    .option(
      '--report-dir <directory>',
      'directory for reports without a file name; without --report, all formats',
    )
    .option('--strict', 'treat inconclusive rules as failures', false)
    .option('--baseline <file>', 'JSON report to compare with; fail only on regressions relative to it')
    .addOption(outputOption());
}

function addSelectionFlags(command: Command): void {
  command
    .addOption(repeatableOption('--skill <id>', 'ID of a skill whose examples are sent', 'all skills'))
    .addOption(
      new Option('--fixtures <kind>', 'prompts of a fixture agent: Dragoman (fx) or A2A TCK (tck)').choices([
        'fx',
        'tck',
      ]),
    )
    .option('--prompts <file>', 'YAML file with a prompt for each target state')
    .addOption(onlyOption(', section or requirement'));
  addVariantFlags(command, 'of the card');
}

function addVariantFlags(command: Command, defaults: string): void {
  command
    .addOption(
      new Option('--level <level>', 'lowest requirement level to test')
        .choices(['must', 'should', 'may'])
        .default('may'),
    )
    .addOption(
      new Option('--transport <transport>', 'transport to use: JSONRPC, HTTP+JSON or GRPC; repeatable')
        .argParser(transportParser(['JSONRPC', 'HTTP+JSON', 'GRPC']))
        .default([], `transports ${defaults}`),
    )
    .addOption(
      new Option('--a2a-version <version>', 'A2A version; repeatable')
        .argParser(parseVersion)
        .default([], `versions ${defaults}`),
    );
}

function userHeaderOption(flag: string, user: string): Option {
  return repeatableOption(`${flag} <header>`, `HTTP header 'Name: value' of ${user}`, 'none');
}

function onlyOption(more = ''): Option {
  return repeatableOption('--only <rule>', `rule or area${more} to test`, 'none');
}

function taskTimeoutOption(): Option {
  return durationOption(
    '--timeout <duration>',
    'time limit of one task, such as 90s or 5m',
    '60s',
    parsePositiveDuration,
  );
}

function addSubcommands(command: Command): void {
  addClientCommand(command);
  command
    .command('selftest')
    .description(
      'Run the suite against mutant agents and clients (all must fail) and correct ones (all must pass).',
    )
    .addOption(onlyOption())
    .addOption(outputOption())
    .addHelpText(
      'after',
      '\nExamples:\n  $ dragoman conformance selftest\n  $ dragoman conformance selftest --only stream',
    )
    .action(async (flags: SelfTestFlags) => (await import('./self-test.ts')).runSelfTestCommand(flags));
  command
    .command('diff')
    .description('Compare two JSON reports. Exits with 1 on regressions.')
    .argument('<before>', 'JSON report of the earlier run')
    .argument('<after>', 'JSON report of the later run')
    .addOption(outputOption())
    .addHelpText('after', '\nExamples:\n  $ dragoman conformance diff before.json after.json')
    .action(async (before: string, after: string, flags: { output: OutputFormat }) =>
      (await import('./run.ts')).runConformanceDiffCommand(before, after, flags),
    );
  command
    .command('matrix')
    .description('Test interoperability between all given agents and write an HTML matrix.')
    .argument('<urls...>', 'URLs of the agents')
    .addOption(headerOption())
    .addOption(taskTimeoutOption())
    .option('--html <file>', 'HTML file for the matrix')
    .addOption(insecureOption())
    .addOption(outputOption())
    .addHelpText(
      'after',
      '\nExamples:\n  $ dragoman conformance matrix http://localhost:4000 http://localhost:5000 --html matrix.html',
    )
    .action(async (urls: string[], flags: MatrixFlags) =>
      (await import('./run.ts')).runConformanceMatrixCommand(urls, flags),
    );
}

const clientExamples = `
Examples:
  $ dragoman conformance client -- my-client send {url} hello
  $ dragoman conformance client -- node harness.mjs {operation} {url} {task}
  $ dragoman conformance client --operations send,stream --report html=client.html -- python3 harness.py {url}

The command is executed once for each test. These placeholders, and environment variables, tell it what to do:
  {url}        A2A_URL        URL of the agent; required in the command
  {operation}  A2A_OPERATION  ${clientOperations.join(', ')}
  {text}       A2A_TEXT       text of the message
  {reply}      A2A_REPLY      text of the answer, if the agent asks for input (converse)
  {task}       A2A_TASK_ID    ID of the task of get, cancel and subscribe
  {token}      A2A_TOKEN      bearer token for the agent

The exit code must be 0 if the operation succeeded and another one if it failed.`;

function addClientCommand(conformance: Command): void {
  const command = conformance
    .command('client')
    .description('Test a client: run its command against agents that behave well and badly.')
    .argument('<command...>', 'command of the client, with {url}')
    .passThroughOptions()
    .option('--name <name>', 'name of the client in reports (default: its program)')
    .addOption(
      new Option('--operations <list>', 'operations that the client can be told by A2A_OPERATION')
        .argParser(parseOperations)
        .default([], 'all with {operation} in the command, otherwise send'),
    )
    .addOption(
      durationOption('--timeout <duration>', 'time limit of one execution', '15s', parsePositiveDuration),
    )
    .addOption(
      durationOption('--max-time <duration>', 'time limit of the whole run', '15m', parsePositiveDuration),
    )
    .addOption(
      new Option('--concurrency <n>', 'maximum number of parallel executions')
        .argParser(countParser(64))
        .default(4),
    )
    .addOption(onlyOption(', section or requirement'));
  addVariantFlags(command, 'that the client offers');
  addReportFlags(command);
  command
    .addHelpText('after', clientExamples)
    .action(async (words: string[], flags: ClientConformanceFlags) =>
      (await import('./client.ts')).runClientConformanceCommand(words, flags),
    );
}

function parseOperations(text: string, previous: readonly ClientOperation[]): ClientOperation[] {
  const known = text.split(',').map((each) => clientOperations.find((name) => name === each.trim()));
  if (known.some((each) => each === undefined))
    throw new InvalidArgumentError(`Use a list of ${clientOperations.join(', ')}.`);
  return [...previous, ...known.flatMap((each) => each ?? [])];
}

function parseVersion(text: string, previous: readonly string[]): string[] {
  if (['1.0', '0.3', '0.1'].includes(text)) return [...previous, text];
  throw new InvalidArgumentError('Use 1.0, 0.3 or 0.1.');
}
