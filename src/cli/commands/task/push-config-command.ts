import type { Command } from 'commander';
import { addClientFlags } from '../../client/flags.ts';
import type { PushConfigFlags } from './push-config.ts';

const examples = `
Examples:
  $ dragoman task push-config create 0197a3f2 --url https://hooks.example.com/a2a -a agents.example.com
  $ dragoman task push-config create 0197a3f2 --listen -a http://localhost:4000
  $ dragoman task push-config list 0197a3f2 -a agents.example.com
  $ dragoman task push-config get 0197a3f2 c1 -a agents.example.com
  $ dragoman task push-config delete 0197a3f2 c1 -a agents.example.com`;

/** Adds `dragoman task push-config`. */
export function addPushConfig(task: Command): void {
  const push = task
    .command('push-config')
    .description('Manage push notification configurations of a task.')
    .addHelpText('after', examples);
  const create = push
    .command('create')
    .description('Create a push notification configuration for a task.')
    .argument('<taskId>', 'task ID')
    .option('--url <url>', 'URL of the webhook')
    .option('--id <id>', 'ID of the configuration (default: random)')
    .option(
      '--notification-token <token>',
      'token sent with each notification, for verification by the webhook',
    )
    .option('--auth-scheme <scheme>', 'authentication scheme of the webhook, such as Bearer')
    .option('--auth-credentials <text>', 'credentials that the agent sends to the webhook')
    .option(
      '--listen',
      'run a local webhook and print notifications until the task is terminal or interrupted',
    )
    .option(
      '--webhook-url <url>',
      'URL under which the agent reaches the local webhook of --listen (default: loopback address)',
    );
  addClientFlags(create)
    .addHelpText('after', examples)
    .action(async (taskId: string, flags: PushConfigFlags) =>
      (await import('./push-config.ts')).runPushConfigCreateCommand(create, taskId, flags),
    );
  const list = push
    .command('list')
    .description('List the push notification configurations of a task.')
    .argument('<taskId>', 'task ID');
  addClientFlags(list)
    .addHelpText('after', examples)
    .action(async (taskId: string) =>
      (await import('./push-config.ts')).runPushConfigListCommand(list, taskId),
    );
  const descriptions = {
    get: 'Print a push notification configuration.',
    delete: 'Delete a push notification configuration.',
  };
  for (const [name, description] of Object.entries(descriptions)) {
    const command = push
      .command(name)
      .description(description)
      .argument('<taskId>', 'task ID')
      .argument('<configId>', 'push configuration ID');
    addClientFlags(command)
      .addHelpText('after', examples)
      .action(async (taskId: string, id: string) => {
        const { runPushConfigDeleteCommand, runPushConfigGetCommand } = await import('./push-config.ts');
        await (name === 'get'
          ? runPushConfigGetCommand(command, taskId, id)
          : runPushConfigDeleteCommand(command, taskId, id));
      });
  }
}
