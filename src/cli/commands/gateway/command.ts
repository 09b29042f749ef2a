import type { Command } from 'commander';
import { hostOption, logOption, outputOption, portOption } from '../../inputs/shared-options.ts';
import type { GatewayFlags } from './run.ts';

const examples = `
Examples:
  $ dragoman gateway -c dragoman.yaml
  $ dragoman gateway -c dragoman.yaml --check
  $ kill -HUP $PID     reload the file

The smallest file:
  agents:
    weather:
      url: https://weather.example.com`;

/** Adds `dragoman gateway`. */
export function addGateway(program: Command): void {
  const overrides = ' (default: as in the file)';
  program
    .command('gateway')
    .description(
      'Run a gateway that exposes the configured agents over HTTP and on a mesh, in all A2A versions.',
    )
    .requiredOption('-c, --config <file>', 'configuration file in YAML')
    .option('--check', 'validate the file and exit')
    .addOption(portOption(undefined, overrides))
    .addOption(hostOption(overrides).default(undefined))
    .option(
      '--store <store>',
      `task store, which keeps the owners of tasks: memory, sqlite:FILE or postgres://…${overrides}`,
    )
    .addOption(outputOption())
    .addOption(logOption())
    .addHelpText('after', examples)
    .action(async (flags: GatewayFlags) => (await import('./run.ts')).runGatewayCommand(flags));
}
