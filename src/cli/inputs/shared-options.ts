import { Option } from 'commander';
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

/** `-H, --header`: HTTP headers for requests to agents. */
export function headerOption(): Option {
  return new Option('-H, --header <header>', "HTTP header 'Name: value' for each request; repeatable")
    .argParser(collectValues)
    .default([], 'none');
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
