import { type Command, Option } from 'commander';
import type { PushFlags } from './run.ts';

const examples = `
Examples:
  $ dragoman push list --store sqlite:tasks.db
  $ dragoman push retry --store sqlite:tasks.db --task 0197a3f2

An agent that is running on the same file notices a retry within 5 seconds (its pollInterval); any other does
when it starts. Sending goes on with the first notification that did not arrive, and skips nothing.`;

/** Declares the commands that look after push notifications. */
export function addPush(program: Command): void {
  const push = program
    .command('push')
    .description('Looks after push notifications that did not arrive.')
    .addHelpText('after', examples);
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
      .addHelpText('after', examples)
      .action(async (flags: PushFlags) => {
        const { runPushListCommand: listPush, runPushRetryCommand: retryPush } = await import('./run.ts');
        await (name === 'list' ? listPush(flags) : retryPush(flags));
      });
  }
}
