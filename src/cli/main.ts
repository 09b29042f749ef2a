#!/usr/bin/env node
import { Command, CommanderError, Option } from 'commander';
import { addActions } from './actions-command.ts';
import { addConformance } from './conformance-command.ts';
import { addConsole } from './console-command.ts';
import { addDoctor } from './doctor-command.ts';
import { addBridge } from './bridge-command.ts';
import { addGateway } from './gateway-command.ts';
import { complain, Mistake } from './mistake.ts';
import { addMock } from './mock-command.ts';
import { portOf } from './port.ts';
import type { PushFlags } from './push.ts';
import type { ServeFlags } from './serve.ts';
import { addTest } from './test-command.ts';
import { versionOfPackage } from './version.ts';

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

const pushExamples = `
Examples:
  $ dragoman push list --store sqlite:tasks.db
  $ dragoman push retry --store sqlite:tasks.db --task 0197a3f2

An agent that is running on the same file notices a retry within 5 seconds (its pollInterval); any other does
when it starts. Sending goes on with the first notification that did not arrive, and skips nothing.`;

function programOf(): Command {
  const program = new Command('dragoman')
    .description('Builds, connects and tests A2A agents: every protocol version, one port, one client.')
    .version(versionOfPackage(), '-v, --version', 'print the version')
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
      const { serveModule } = await import('./serve.ts');
      await serveModule(module, {
        ...flags,
        mayMovePort: command.getOptionValueSource('port') === 'default',
      });
    });
  addPush(program);
  addTest(program);
  addMock(program);
  addGateway(program);
  addConformance(program);
  addDoctor(program);
  addBridge(program);
  addActions(program);
  addConsole(program);
  return program;
}

function addPush(program: Command): void {
  const push = program
    .command('push')
    .description('Looks after push notifications that did not arrive.')
    .addHelpText('after', pushExamples);
  const commands: { [name in 'list' | 'retry']: string } = {
    list: 'Lists the webhooks that have not got everything: late, in trouble or given up.',
    retry: 'Lets webhooks that were given up be tried again.',
  };
  for (const [name, description] of Object.entries(commands)) {
    push
      .command(name)
      .description(description)
      .requiredOption('--store <where>', 'where the tasks are kept: sqlite:FILE')
      .option('--task <id>', 'only those of this task')
      .option('--config <id>', 'only those of this push configuration')
      .addOption(new Option('-o, --output <form>', 'how to print').choices(['text', 'json']).default('text'))
      .addHelpText('after', pushExamples)
      .action(async (flags: PushFlags) => {
        const { listPush, retryPush } = await import('./push.ts');
        await (name === 'list' ? listPush(flags) : retryPush(flags));
      });
  }
}

// Whoever reads the first lines only, as `| head` does, has not made a mistake.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

try {
  const program = programOf();
  // Whoever asks for the version alone does not wait for the rest.
  if (!/^(-v|--version)$/.test(process.argv[2] ?? '')) {
    const { addClientCommands } = await import('./client-commands.ts');
    addClientCommands(program);
  }
  await program.parseAsync();
} catch (thrown) {
  if (thrown instanceof CommanderError) {
    // Help and version are no mistakes; commander has said everything else already.
    process.exitCode = thrown.exitCode === 0 ? 0 : 2;
    if (thrown.exitCode !== 0)
      (await import('./client-commands.ts')).tellUsage(process.argv.slice(2), thrown.message);
  } else {
    complain(thrown);
    process.exit(thrown instanceof Mistake ? 2 : 1);
  }
}
