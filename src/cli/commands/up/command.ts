import type { Command } from 'commander';
import { logOption, otlpOption, outputOption, sessionsOption } from '../../inputs/shared-options.ts';
import type { UpFlags } from './run.ts';

const examples = `
Examples:
  $ dragoman up
  $ dragoman up -c dragoman.yaml
  $ dragoman up -c dragoman.yaml --check
  $ dragoman up -o json | head -1

Without a file it starts two sample agents (one supports only A2A 0.1), a gateway that exposes both in all versions, an
in-memory mesh, their skills as MCP tools, and the console. The configuration of the samples is examples/up/dragoman.yaml
of the package. The smallest file of your own:
  agents:
    mine: { module: agent.js }`;

/** Adds `dragoman up`. */
export function addUp(program: Command): void {
  program
    .command('up')
    .description('Start agents, gateway, mesh, MCP server and console in one process.')
    .option('-c, --config <file>', 'configuration file in YAML (default: two sample agents)')
    .option('--check', 'validate the file and exit')
    .option(
      '--store <store>',
      'task store of the agents, and of the owners of tasks: memory, sqlite:FILE or postgres://… (default: as in the file)',
    )
    .addOption(sessionsOption())
    .addOption(outputOption())
    .addOption(logOption('; also logs every request (default: no requests)'))
    .addOption(otlpOption())
    .addHelpText('after', examples)
    .action(async (flags: UpFlags) => (await import('./run.ts')).runUpCommand(flags));
}
