import type { Command } from 'commander';
import {
  allowHostOption,
  corsOriginOption,
  hostOption,
  outputOption,
  portOption,
} from '../../inputs/shared-options.ts';
import type { DemoFlags } from './run.ts';

const examples = `
Examples:
  $ dragoman demo-server
  $ dragoman demo-server --port 4000 --require-bearer s3cret

The first word of a message selects what the agent does:
  ask …      requests input              fail …    fails the task       reject …  rejects the task
  slow N …   streams for N seconds       auth …    requests authorization
  file …     returns a file              data …    returns JSON         hello …   responds without a task
All other messages are echoed.`;

/** Adds `dragoman demo-server`. */
export function addDemoServer(program: Command): void {
  program
    .command('demo-server')
    .description('Start a local demo agent for trying the client commands.')
    .addOption(portOption(0))
    .addOption(hostOption())
    .addOption(allowHostOption())
    .addOption(corsOriginOption())
    .option(
      '--require-bearer <token>',
      'bearer token that clients must send; authenticated clients can fetch an extended card',
    )
    .option('--no-streaming', 'disable streaming')
    .addOption(outputOption())
    .addHelpText('after', examples)
    .action(async (flags: DemoFlags) => (await import('./run.ts')).runDemoServerCommand(flags));
}
