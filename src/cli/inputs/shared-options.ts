import { Option } from 'commander';
import { sessionLocation } from '../../console/sessions/session-location.ts';
import { isLoopbackHost } from '../../primitives/loopback.ts';
import type { CorsOptions } from '../../server/server-options.ts';
import { printWarning } from '../terminal/print-error.ts';
import { parseDuration } from './parse-duration.ts';
import { parsePort } from './parse-port.ts';

/** Output format of a command. */
export type OutputFormat = 'text' | 'json';

/** Collects the values of a repeatable option. */
export function collectValues(value: string, previous: readonly string[] = []): string[] {
  return [...previous, value];
}

/** `-o, --output`: the print format of every command. */
export function outputOption(formats: readonly string[] = ['text', 'json'], note = ''): Option {
  return new Option('-o, --output <format>', `output format${note}`).choices(formats).default('text');
}

/** `--credential-origin`: origins besides that of the card to which credentials are sent. */
export function credentialOriginOption(): Option {
  return repeatableOption(
    '--credential-origin <origin>',
    'further origin that may receive the credentials, if the card lists an interface there',
    'only the origin of the agent card',
  );
}

/** `-p, --port`: the port of every server. Without a default, the port of the configuration file applies. */
export function portOption(defaultPort?: number, note = ''): Option {
  const option = new Option('-p, --port <port>', `port to listen on; 0 for any free port${note}`);
  option.argParser(parsePort);
  return defaultPort === undefined ? option : option.default(defaultPort);
}

/** `--host`: the listen address of every server. */
export function hostOption(note = ''): Option {
  return new Option(
    '--host <address>',
    `address to listen on; 0.0.0.0 accepts connections from other hosts${note}`,
  ).default('127.0.0.1');
}

/** An option that may be used several times. Without `defaultText`, its value is undefined if it is not used. */
export function repeatableOption(flags: string, description: string, defaultText?: string): Option {
  const option = new Option(flags, `${description}; repeatable`).argParser(collectValues);
  return defaultText === undefined ? option : option.default([], defaultText);
}

/** `-a, --agent`: an agent that is used by its URL. */
export function agentOption(): Option {
  return repeatableOption('-a, --agent <agent>', 'agent to use: URL, or name=URL to name it');
}

/** `--allow-host`: host names that clients of a server may use. */
export function allowHostOption(): Option {
  return repeatableOption('--allow-host <name>', 'host name that clients may use, besides local names');
}

/** `--cors-origin`: origins of web pages that may call a server. */
export function corsOriginOption(): Option {
  return repeatableOption(
    '--cors-origin <origin>',
    "origin whose web pages may call the server, such as https://app.example, or '*'",
  );
}

/** Warns if a server without authentication accepts connections from other hosts. */
export function warnIfExposed(host: string): void {
  if (isLoopbackHost(host)) return;
  printWarning(
    `Listening on ${host} without authentication: every host that can connect can use the agents. Set --allow-host to accept only known host names.`,
  );
}

/** Flags of {@link allowHostOption} and {@link corsOriginOption}. */
export interface BrowserAccessFlags {
  allowHost?: string[];
  corsOrigin?: string[];
}

/** Converts the flags to options of a server. */
export function toBrowserAccess({ allowHost, corsOrigin }: BrowserAccessFlags): {
  allowedHosts?: readonly string[];
  cors?: CorsOptions;
} {
  return {
    ...(allowHost && { allowedHosts: allowHost }),
    ...(corsOrigin && { cors: { origins: corsOrigin.includes('*') ? '*' : corsOrigin } }),
  };
}

/** `-H, --header`: HTTP headers for requests to agents. */
export function headerOption(): Option {
  return repeatableOption('-H, --header <header>', "HTTP header 'Name: value' for each request", 'none');
}

/** `--otlp` of servers. */
export function otlpOption(): Option {
  return new Option(
    '--otlp <url>',
    'send traces and metrics to an OpenTelemetry collector, such as http://localhost:4318 (default: as in OTEL_EXPORTER_OTLP_ENDPOINT)',
  );
}

/** `--log`: the format of log entries. Without a default, requests are logged only to a terminal. */
export function logOption(note = '; also logs every request (default: requests only on a terminal)'): Option {
  return new Option('--log <format>', `log format on standard error${note}`).choices(['text', 'json']);
}

/** `--insecure`: disables TLS verification. */
export function insecureOption(): Option {
  return new Option('--insecure', 'do not verify TLS certificates (development only)').default(false);
}

/** `--base-path`: the path prefix of a served agent. */
export function basePathOption(note = ''): Option {
  return new Option('--base-path <path>', `path prefix of all routes, such as /echo${note}`);
}

/** An option whose value is a duration, in milliseconds. */
export function durationOption(
  flags: string,
  description: string,
  defaultText: string,
  parse: (text: string) => number = parseDuration,
): Option {
  return new Option(flags, description).argParser(parse).default(parse(defaultText), defaultText);
}

/** Creates the option for the folder of console sessions. */
export function sessionsOption(): Option {
  return new Option(
    '--sessions <folder>',
    'folder that keeps conversations, recordings and added agents of the console, or off; DRAGOMAN_SESSIONS (default: a folder of the user)',
  );
}

/** Converts the flag of {@link sessionsOption} to the option of `serveConsole`. */
export function sessionOptions({ sessions }: { sessions?: string }): { sessions?: string } {
  const folder = sessionLocation(sessions);
  return folder === undefined ? {} : { sessions: folder };
}
