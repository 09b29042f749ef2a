import type { Command } from 'commander';
import { outputOption } from '../../inputs/shared-options.ts';
import type { PushFlags } from './run.ts';

const examples = `
Examples:
  $ dragoman push list --store sqlite:tasks.db
  $ dragoman push retry --store sqlite:tasks.db --task-id 0197a3f2

A running agent with the same file picks up a retry within 5 seconds (its pollInterval), any other agent when it starts.
Delivery continues with the first undelivered notification and skips none.`;

/** Adds `dragoman push`. */
export function addPush(program: Command): void {
  const push = program
    .command('push')
    .description('Inspect and retry failed push notifications.')
    .addHelpText('after', examples);
  const descriptions: { [name in 'list' | 'retry']: string } = {
    list: 'List webhooks with pending, failing or dead deliveries.',
    retry: 'Retry dead deliveries.',
  };
  for (const [name, description] of Object.entries(descriptions)) {
    push
      .command(name)
      .description(description)
      .requiredOption('--store <store>', 'task store: sqlite:FILE or postgres://…')
      .option('--task-id <id>', 'task ID to filter by')
      .option('--config-id <id>', 'push configuration ID to filter by')
      .addOption(outputOption())
      .addHelpText('after', examples)
      .action(async (flags: PushFlags) => {
        const { runPushListCommand, runPushRetryCommand } = await import('./run.ts');
        await (name === 'list' ? runPushListCommand(flags) : runPushRetryCommand(flags));
      });
  }
}
