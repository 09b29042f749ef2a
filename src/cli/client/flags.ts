import { type Command, InvalidArgumentError, Option } from 'commander';
import { collectValues } from '../inputs/option-types.ts';

/** What the commands that speak to an agent are told, as far as they have it in common. */
export interface ClientFlags {
  agentCard?: string;
  a2aVersion?: string;
  transport: string[];
  bearer?: string;
  apiKey?: string;
  svcParam: string[];
  extension: string[];
  insecure: boolean;
  ca?: string;
  clientCert?: string;
  clientKey?: string;
  cardKeys?: string;
  config?: string;
  output: 'text' | 'json';
  stream: boolean;
  verbose: boolean;
  debug: boolean;
  /** In milliseconds; 0 for ever. */
  timeout: number;
  /** In milliseconds. */
  pollInterval: number;
  wait?: boolean;
  async?: boolean;
  returnImmediately?: boolean;
  contextId?: string;
  taskId?: string;
  metadata?: { [key: string]: unknown };
}

/** Which flags a command takes beside those of every connection. */
export type FlagGroup = 'waiting' | 'async' | 'identifiers' | 'metadata';

const variableHelp = `
Settings come from flags, else from A2ACLI_… in the environment (--agent-card is A2ACLI_AGENT_CARD), else from a .env file
here or above (or --config), else from ~/.config/a2a-cli/.env. A secret on the command line is seen by other processes
and stays in the history of the shell: A2ACLI_BEARER and A2ACLI_API_KEY do not.`;

/** Declares what every command takes that speaks to an agent. */
export function addClientFlags(command: Command, groups: readonly FlagGroup[] = []): Command {
  for (const option of connectionFlags()) command.addOption(option);
  for (const group of groups) for (const option of groupFlags[group]()) command.addOption(option);
  return command.addHelpText('after', variableHelp);
}

/** The flags whose values may come from the environment or from a file: all that say how, and none that says what to do. */
export function settingFlags(): Option[] {
  return [...connectionFlags(), ...Object.values(groupFlags).flatMap((flags) => flags())].filter(
    ({ long }) => !['--stream', '--config', '--return-immediately', '--no-wait'].includes(long ?? ''),
  );
}

function connectionFlags(): Option[] {
  return [
    new Option('-a, --agent-card <ref>', 'the agent: a host, the URL of its card, or a file with the card'),
    new Option(
      '--a2a-version <version>',
      'the protocol version; before 1.0 only if it is named here (default: 1.0)',
    ).choices(['1.0', '0.3', '0.2', '0.1']),
    new Option('--transport <binding>', 'JSONRPC or HTTP+JSON; repeatable, the favourite first')
      .argParser(transportOf)
      .default([], 'the order of the card'),
    new Option('--bearer <token>', 'a bearer token, sent where the card declares one (A2ACLI_BEARER)'),
    new Option('--api-key <key>', 'an API key, sent where the card says (A2ACLI_API_KEY)'),
    new Option('--svc-param <k:v>', 'a service parameter of the transport, as an HTTP header; repeatable')
      .argParser(serviceParameterOf)
      .default([], 'none'),
    new Option('--extension <uri>', 'a protocol extension to declare; repeatable')
      .argParser(collectValues)
      .default([], 'none'),
    new Option('--insecure', 'take certificates that nobody vouches for (development only)').default(false),
    new Option('--ca <file>', 'certificates of authorities to trust, as PEM'),
    new Option('--client-cert <file>', 'the certificate to show for mutual TLS, as PEM'),
    new Option('--client-key <file>', 'the key of --client-cert, as PEM'),
    new Option('--card-keys <file>', 'a JSON Web Key Set that signed cards are verified with'),
    new Option('--config <path>', 'an .env file to read in place of the one here or above'),
    new Option('-o, --output <form>', 'how to print').choices(['text', 'json']).default('text'),
    new Option(
      '--stream',
      'print each event as it comes; with -o json, one JSON object on each line',
    ).default(false),
    new Option('--timeout <duration>', 'when to give up, such as 90s or 5m; 0 never')
      .argParser(durationOf)
      .default(600_000, '10m'),
    new Option('--verbose', 'print all that was exchanged').default(false),
    new Option('--debug', 'log requests and answers to standard error, without secrets').default(false),
  ];
}

const groupFlags: { readonly [group in FlagGroup]: () => Option[] } = {
  waiting: () => [
    new Option('--wait', 'wait until the task ends or needs something'),
    new Option('--poll-interval <duration>', 'how often to ask while waiting')
      .argParser(durationOf)
      .default(2_000, '2s'),
  ],
  async: () => [
    new Option('--async', 'do not wait: print the identifiers at once'),
    new Option('--return-immediately', 'the same as --async').hideHelp(),
    new Option('--no-wait', 'the same as --async').hideHelp(),
  ],
  identifiers: () => [
    new Option('--context-id <id>', 'the context to stay in, as the agent named it'),
    new Option('--task-id <id>', 'the task to continue, as the agent named it'),
  ],
  metadata: () => [
    new Option('--metadata <json>', 'a JSON object to send along in the request').argParser(objectOf),
  ],
};

function transportOf(text: string, before: readonly string[]): string[] {
  const names: { readonly [name: string]: string } = {
    jsonrpc: 'JSONRPC',
    'json-rpc': 'JSONRPC',
    rest: 'HTTP+JSON',
    'http+json': 'HTTP+JSON',
    grpc: 'GRPC',
  };
  const found = text.split(',').map((each) => names[each.trim().toLowerCase()]);
  if (found.includes(undefined)) throw new InvalidArgumentError('It is JSONRPC, HTTP+JSON or GRPC.');
  return [...before, ...(found as string[])];
}

function serviceParameterOf(text: string, before: readonly string[]): string[] {
  // The value may be a secret, so it is not repeated.
  if (!/^[\w!#$%&'*+.^`|~-]+:\s*\S/.test(text))
    throw new InvalidArgumentError('Write it as name:value, without spaces in the name.');
  return [...before, text];
}

function objectOf(text: string): { [key: string]: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as { [key: string]: unknown };
  } catch {
    // Told below.
  }
  throw new InvalidArgumentError('It is a JSON object, such as {"k":"v"}.');
}

const units: { readonly [unit: string]: number } = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Reads a duration; a number alone is in seconds. */
function durationOf(text: string): number {
  const [, number, unit = 's'] = /^(\d{1,9}(?:\.\d+)?)(ms|s|m|h)?$/.exec(text) ?? [];
  const milliseconds = Number(number) * (units[unit] ?? Number.NaN);
  if (Number.isNaN(milliseconds) || milliseconds > 2_000_000_000)
    throw new InvalidArgumentError('It is a duration, such as 500ms, 2s, 5m or 1h.');
  return milliseconds;
}
