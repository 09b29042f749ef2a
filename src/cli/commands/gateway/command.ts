import { type Command, Option } from 'commander';
import type { GatewayFlags } from './run.ts';
import { parsePort } from '../../inputs/parse-port.ts';

const examples = `
Examples:
  $ dragoman gateway -c dragoman.yaml
  $ dragoman gateway -c dragoman.yaml --check
  $ kill -HUP $PID     reads the file again

The smallest file:
  agents:
    weather:
      url: https://weather.example.com`;

/** Declares the command that runs a gateway. */
export function addGateway(program: Command): void {
  program
    .command('gateway')
    .description('Shows many agents under one host and on a mesh, as a file says, each in every version.')
    .requiredOption('-c, --config <file>', 'the YAML file')
    .option('--check', 'say what is wrong with the file, with line and column, and end')
    .addOption(
      new Option(
        '-p, --port <number>',
        'the port, instead of the one in the file; 0 for any free one',
      ).argParser(parsePort),
    )
    .option('--host <address>', 'the address to listen on, instead of the one in the file')
    .addOption(
      new Option('-o, --output <form>', 'what to print once it runs')
        .choices(['text', 'json'])
        .default('text'),
    )
    .addOption(
      new Option(
        '--log <form>',
        'write every request to standard error (default: only to a terminal)',
      ).choices(['text', 'json']),
    )
    .addHelpText('after', examples)
    .action(async (flags: GatewayFlags) => {
      const { runGatewayCommand: gateway } = await import('./run.ts');
      await gateway(flags);
    });
}
