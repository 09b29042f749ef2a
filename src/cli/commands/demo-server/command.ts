import { type Command, Option } from 'commander';
import { parsePort } from '../../inputs/parse-port.ts';

const examples = `
Examples:
  $ dragoman demo-server
  $ dragoman demo-server --port 4000 --bearer s3cret

What it does depends on the first word that it hears:
  ask …      asks back and waits for an answer          fail …    fails          reject …  refuses
  slow N …   works for N seconds, piece by piece        auth …    waits for an authorization
  file …     gives a file      data …    gives JSON     hello …   answers without a task
Everything else is said back.`;

/** Adds `dragoman demo-server`. */
export function addDemoServer(program: Command): void {
  program
    .command('demo-server')
    .description('Serves a small agent on this machine, to try the client commands with.')
    .addOption(
      new Option('-p, --port <number>', 'the port; 0 for any free one').argParser(parsePort).default(0),
    )
    .option('--host <address>', 'the address to listen on', '127.0.0.1')
    .option('--bearer <token>', 'let only those in who have this token, and show them the extended card')
    .option('--no-streaming', 'an agent that does not stream')
    .addOption(new Option('-o, --output <form>', 'how to print').choices(['text', 'json']).default('text'))
    .addHelpText('after', examples)
    .action(async (flags: import('./run.ts').DemoFlags) => {
      const { runDemoServerCommand: serveDemo } = await import('./run.ts');
      await serveDemo(flags);
    });
}
