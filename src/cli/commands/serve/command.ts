import { type Command, Option } from 'commander';
import { parsePort } from '../../inputs/parse-port.ts';
import type { ServeFlags } from './run.ts';

const examples = `
Examples:
  $ dragoman serve agent.js
  $ dragoman serve agent.js --port 0 --store sqlite:tasks.db
  $ dragoman serve agent.js --host 0.0.0.0 --public-url https://agents.example.com/echo --base-path /echo

A module gives its agent as its default export, or as an export named "agent":
  import { defineAgent } from 'dragoman';
  export default defineAgent({
    name: 'Echo',
    description: 'Says it back',
    process: async ({ text }) => \`You said: \${text}\`,
  });`;

/** Declares the command that serves an agent. */
export function addServe(program: Command): void {
  program
    .command('serve')
    .description('Serves the agent of a module in every version of A2A on one port.')
    .argument('<module>', 'the JavaScript file that exports the agent')
    .addOption(
      new Option('-p, --port <number>', 'the port; 0 for any free one').argParser(parsePort).default(4000),
    )
    .option('--host <address>', 'the address to listen on; 0.0.0.0 to be reached from elsewhere', '127.0.0.1')
    .option(
      '--store <where>',
      'where tasks are kept: memory, sqlite:FILE, or sqlite:FILE?shared where several processes share it (default: as the agent says)',
    )
    .option('--base-path <path>', 'the path everything is served below')
    .option('--public-url <url>', 'the address that the card gives, base path included')
    .option('--allow-loopback-webhooks', 'send push notifications to this machine too, for development')
    .option('--lenient-version', 'let methods of 1.0 pass without their A2A-Version header')
    .addOption(
      new Option('-o, --output <form>', 'what to print once it listens')
        .choices(['text', 'json'])
        .default('text'),
    )
    .addOption(
      new Option(
        '--log <form>',
        'write every request to standard error (default: only to a terminal)',
      ).choices(['text', 'json']),
    )
    .option('--metrics', 'show numbers for Prometheus at /metrics to callers on this machine')
    .addHelpText('after', examples)
    .action(async (module: string, flags: Omit<ServeFlags, 'mayMovePort'>, command: Command) => {
      const { runServeCommand: serveModule } = await import('./run.ts');
      await serveModule(module, {
        ...flags,
        mayMovePort: command.getOptionValueSource('port') === 'default',
      });
    });
}
