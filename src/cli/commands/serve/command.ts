import { type Command, InvalidArgumentError, Option } from 'commander';
import { IpRange } from '../../../primitives/ip-range.ts';
import {
  allowHostOption,
  collectValues,
  corsOriginOption,
  basePathOption,
  durationOption,
  hostOption,
  logOption,
  otlpOption,
  outputOption,
  portOption,
} from '../../inputs/shared-options.ts';
import type { ServeFlags } from './run.ts';

const examples = `
Examples:
  $ dragoman serve agent.js
  $ dragoman serve agent.js --port 0 --store sqlite:tasks.db
  $ dragoman serve agent.ts --watch
  $ AGENT_TOKEN=… dragoman serve agent.js --bearer-from-env AGENT_TOKEN
  $ dragoman serve agent.js --host 0.0.0.0 --public-url https://agents.example.com/echo --base-path /echo

The module exports the agent as its default export, or as "agent":
  import { defineAgent } from 'dragoman';
  export default defineAgent({
    name: 'Echo',
    description: 'Repeats each message',
    process: async ({ text }) => \`You said: \${text}\`,
  });

Node 22.18 and later run TypeScript themselves; for older versions, install tsx in the project.`;

/** Adds `dragoman serve`. */
export function addServe(program: Command): void {
  program
    .command('serve')
    .description('Serve the agent exported by a module in all A2A versions on one port.')
    .argument('<module>', 'JavaScript or TypeScript file that exports the agent')
    .option('--watch', 'reload the module when it or one of its imports changes (development only)')
    .addOption(portOption(4000))
    .addOption(hostOption())
    .addOption(allowHostOption())
    .addOption(corsOriginOption())
    .addOption(
      new Option(
        '--trust-proxy <address>',
        'address or CIDR block of a proxy whose X-Forwarded-For header identifies the client; repeatable',
      ).argParser(collectAddresses),
    )
    .option(
      '--no-fast-path',
      'handle all requests with node:http; DRAGOMAN_FAST_PATH=0 does the same for all commands',
    )
    .option('--no-grpc', 'do not serve gRPC; DRAGOMAN_GRPC=0 does the same for all commands')
    .addOption(
      durationOption(
        '--not-ready <duration>',
        'on shutdown, time for which /readyz responds 503 while requests are still accepted',
        '0s',
      ),
    )
    .addOption(
      durationOption(
        '--drain <duration>',
        'on shutdown, maximum time to wait for running tasks and requests',
        '5s',
      ),
    )
    .option(
      '--store <store>',
      'task store: memory, sqlite:FILE, sqlite:FILE?shared or postgres://USER@HOST/DATABASE for several processes; with limits such as memory?maxBytes=1gb (default: as in the module)',
    )
    .addOption(basePathOption())
    .option('--public-url <url>', 'URL of the agent in its card, including the base path')
    .option(
      '--allow-loopback-webhooks',
      'deliver push notifications to loopback addresses (development only)',
    )
    .option('--lenient-version', 'accept 1.0 methods without the A2A-Version header')
    .addOption(
      new Option('--preview <version>', 'offer drafted features of a version that is not released').choices([
        '1.1',
      ]),
    )
    .addOption(
      new Option(
        '--api-key-from-env <variable>',
        'environment variable with an API key that clients send as X-API-Key; repeatable, one client each',
      ).argParser(collectValues),
    )
    .addOption(
      new Option(
        '--bearer-from-env <variable>',
        'environment variable with a bearer token that clients send; repeatable, one client each',
      ).argParser(collectValues),
    )
    .addOption(outputOption())
    .addOption(logOption())
    .option('--metrics', 'serve Prometheus metrics at /metrics to local clients')
    .addOption(otlpOption())
    .addHelpText('after', examples)
    .action(async (module: string, flags: Omit<ServeFlags, 'mayMovePort'>, command: Command) =>
      (await import('./run.ts')).runServeCommand(module, {
        ...flags,
        mayMovePort: command.getOptionValueSource('port') === 'default',
      }),
    );
}

function collectAddresses(value: string, previous?: readonly string[]): string[] {
  if (IpRange.parse(value)) return collectValues(value, previous);
  throw new InvalidArgumentError('Use an IP address or a block such as 10.0.0.0/8.');
}
