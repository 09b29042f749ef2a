import { type Command, Option } from 'commander';
import type { UpFlags } from './run.ts';

const examples = `
Examples:
  $ dragoman up
  $ dragoman up -c dragoman.yaml
  $ dragoman up -c dragoman.yaml --check
  $ dragoman up -o json | head -1

Without a file it starts two sample agents, of which one speaks A2A 0.1 alone, a gateway that shows both in every
version, a mesh within the process, their skills as tools of MCP, and the console. The file of that is
examples/up/dragoman.yaml of the package; the smallest of your own is
  agents:
    mine: { module: agent.js }`;

/** Declares the command that starts everything. */
export function addUp(program: Command): void {
  program
    .command('up')
    .description('Starts everything at once: agents, a gateway, a mesh, MCP and the console.')
    .option('-c, --config <file>', 'the YAML file that says what to start (default: two sample agents)')
    .option('--check', 'say what is wrong with the file, with line and column, and end')
    .addOption(
      new Option('-o, --output <form>', 'what to print once it is up')
        .choices(['text', 'json'])
        .default('text'),
    )
    .addOption(new Option('--log <form>', 'write every request to standard error').choices(['text', 'json']))
    .addHelpText('after', examples)
    .action(async (flags: UpFlags) => {
      const { runUpCommand: up } = await import('./run.ts');
      await up(flags);
    });
}
