#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { complain, Mistake } from './mistake.ts';
import type { ServeFlags } from './serve.ts';

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

/** Reads a port; 0 is any free one. */
function portOf(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('A port is a number from 0 (any free one) to 65535.');
}

function versionOfPackage(): string {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return version;
}

function programOf(): Command {
  const program = new Command('dragoman')
    .description('Builds, connects and tests A2A agents: every protocol version, one port, one client.')
    .version(versionOfPackage(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .showHelpAfterError('Run it with --help to see what there is.')
    .exitOverride();
  program
    .command('serve')
    .description('Serves the agent of a module in every version of A2A on one port.')
    .argument('<module>', 'the JavaScript file that exports the agent')
    .addOption(
      new Option('-p, --port <number>', 'the port; 0 for any free one').argParser(portOf).default(4000),
    )
    .option('--host <address>', 'the address to listen on; 0.0.0.0 to be reached from elsewhere', '127.0.0.1')
    .option('--store <where>', 'where tasks are kept: memory, or sqlite:FILE (default: as the agent says)')
    .option('--base-path <path>', 'the path everything is served below')
    .option('--public-url <url>', 'the address that the card gives, base path included')
    .option('--lenient-version', 'let methods of 1.0 pass without their A2A-Version header')
    .addOption(
      new Option('-o, --output <form>', 'what to print once it listens')
        .choices(['text', 'json'])
        .default('text'),
    )
    .addHelpText('after', examples)
    .action(async (module: string, flags: Omit<ServeFlags, 'mayMovePort'>, command: Command) => {
      const { serveModule } = await import('./serve.ts');
      await serveModule(module, {
        ...flags,
        mayMovePort: command.getOptionValueSource('port') === 'default',
      });
    });
  return program;
}

try {
  await programOf().parseAsync();
} catch (thrown) {
  if (thrown instanceof CommanderError) {
    // Help and version are no mistakes; commander has said everything else already.
    process.exitCode = thrown.exitCode === 0 ? 0 : 2;
  } else {
    complain(thrown);
    process.exit(thrown instanceof Mistake ? 2 : 1);
  }
}
