import { type Command, InvalidArgumentError, Option } from 'commander';
import { asJsonObject, type JsonObject, parseJsonOrUndefined } from '../../primitives/json.ts';
import type { Transport } from '../../protocol/card.ts';
import { anyVersion } from './requested-version.ts';
import { transportParser } from '../inputs/parse-transport.ts';
import {
  credentialOriginOption,
  durationOption,
  insecureOption,
  outputOption,
  repeatableOption,
} from '../inputs/shared-options.ts';

/** Flags that all client commands share. */
export interface ClientFlags {
  agentCard?: string;
  a2aVersion?: string;
  transport: Transport[];
  bearer?: string;
  apiKey?: string;
  svcParam: string[];
  credentialOrigin: string[];
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
  /** In milliseconds; 0 disables it. */
  timeout: number;
  /** In milliseconds. */
  pollInterval: number;
  wait?: boolean;
  async?: boolean;
  returnImmediately?: boolean;
  contextId?: string;
  taskId?: string;
  metadata?: JsonObject;
}

/** Groups of flags that only some client commands have. */
export type FlagGroup = 'waiting' | 'async' | 'identifiers' | 'metadata';

const settingsHelp = `
Settings come from flags, then from A2ACLI_… environment variables (--agent-card is A2ACLI_AGENT_CARD), then from the
nearest .env file (or --config), then from ~/.config/a2a-cli/.env. Pass secrets in A2ACLI_BEARER and A2ACLI_API_KEY:
other processes and the shell history can see the command line.`;

/** Adds the flags of the client commands. */
export function addClientFlags(command: Command, groups: readonly FlagGroup[] = []): Command {
  for (const option of connectionFlags()) command.addOption(option);
  for (const group of groups) for (const option of groupFlags[group]()) command.addOption(option);
  return command.addHelpText('after', settingsHelp);
}

/** Returns the flags whose values may come from the environment or a file. */
export function settingFlags(): Option[] {
  return [...connectionFlags(), ...Object.values(groupFlags).flatMap((flags) => flags())].filter(
    ({ long }) => !['--stream', '--config', '--return-immediately', '--no-wait'].includes(long ?? ''),
  );
}

function connectionFlags(): Option[] {
  return [
    new Option('-a, --agent-card <ref>', 'agent card: host, URL of the agent or its card, or a card file'),
    new Option(
      '--a2a-version <version>',
      'A2A version; versions before 1.0 are used only if named here, or with auto, the best that the agent offers (default: 1.0)',
    ).choices(['1.0', '0.3', '0.2', '0.1', anyVersion]),
    new Option(
      '--transport <transport>',
      'transport to use: JSONRPC, HTTP+JSON or GRPC; repeatable, in order of preference',
    )
      .argParser(transportParser(['JSONRPC', 'HTTP+JSON', 'GRPC']))
      .default([], 'order of the card'),
    new Option('--bearer <token>', 'bearer token, sent if the card declares a scheme for it (A2ACLI_BEARER)'),
    new Option('--api-key <key>', 'API key, sent if the card declares a scheme for it (A2ACLI_API_KEY)'),
    new Option('--svc-param <k:v>', 'service parameter, sent as an HTTP header; repeatable')
      .argParser(parseServiceParameter)
      .default([], 'none'),
    credentialOriginOption(),
    repeatableOption('--extension <uri>', 'URI of a protocol extension to declare', 'none'),
    insecureOption(),
    new Option('--ca <file>', 'PEM file with trusted certificate authorities'),
    new Option('--client-cert <file>', 'PEM file with the client certificate for mutual TLS'),
    new Option('--client-key <file>', 'PEM file with the key of --client-cert'),
    new Option('--card-keys <file>', 'JSON Web Key Set file for verifying signed cards'),
    new Option(
      '-c, --config <file>',
      'configuration file in .env format (default: nearest .env in this or a parent directory)',
    ),
    outputOption(),
    new Option('--stream', 'print each event as it arrives; with -o json, one JSON object per line').default(
      false,
    ),
    durationOption('--timeout <duration>', 'time limit, such as 90s or 5m; 0 disables it', '10m'),
    new Option('--verbose', 'print all message parts and metadata').default(false),
    new Option('--debug', 'log HTTP requests and responses to standard error, with secrets redacted').default(
      false,
    ),
  ];
}

const groupFlags: { readonly [group in FlagGroup]: () => Option[] } = {
  waiting: () => [
    new Option('--wait', 'wait until the task reaches a terminal or interrupted state'),
    durationOption('--poll-interval <duration>', 'time between polls while waiting', '2s'),
  ],
  async: () => [
    new Option('--async', 'do not wait; print the task and context IDs immediately'),
    new Option('--return-immediately', 'alias of --async').hideHelp(),
    new Option('--no-wait', 'alias of --async').hideHelp(),
  ],
  identifiers: () => [
    new Option('--context-id <id>', 'context ID to continue'),
    new Option('--task-id <id>', 'task ID to continue'),
  ],
  metadata: () => [
    new Option('--metadata <json>', 'JSON object to send as request metadata').argParser(parseObject),
  ],
};

function parseServiceParameter(text: string, previous: readonly string[]): string[] {
  // The message does not repeat the value, which may be a secret.
  if (!/^[\w!#$%&'*+.^`|~-]+:\s*\S/.test(text))
    throw new InvalidArgumentError('Use name:value, without spaces in the name.');
  return [...previous, text];
}

function parseObject(text: string): JsonObject {
  const object = asJsonObject(parseJsonOrUndefined(text));
  if (object) return object;
  throw new InvalidArgumentError('Use a JSON object, such as {"k":"v"}.');
}
