import type { Command } from 'commander';
import { addClientFlags } from '../../client/flags.ts';
import type { PushConfigFlags } from './push-config.ts';

const examples = `
Examples:
  $ dragoman task push-config create 0197a3f2 --url https://hooks.example.com/a2a --token s3cret -a agents.example.com
  $ dragoman task push-config create 0197a3f2 --listen -a http://localhost:4000
  $ dragoman task push-config list 0197a3f2 -a agents.example.com
  $ dragoman task push-config get 0197a3f2 c1 -a agents.example.com
  $ dragoman task push-config delete 0197a3f2 c1 -a agents.example.com`;

/** Adds `dragoman task push-config`. */
export function addPushConfig(task: Command): void {
  const push = task
    .command('push-config')
    .description('Looks after the webhooks that are told about a task.')
    .addHelpText('after', examples);
  const what = 'the task, as the agent named it';
  const create = push
    .command('create')
    .description('Has the agent tell a webhook about a task.')
    .argument('<taskId>', what)
    .option('--url <url>', 'where the webhook is')
    .option('--id <id>', 'the name of the configuration (default: any)')
    .option('--token <token>', 'a word by which the webhook knows the agent')
    .option('--auth-scheme <scheme>', 'how the agent proves itself to the webhook, such as Bearer')
    .option('--auth-credentials <text>', 'what it proves itself with')
    .option('--listen', 'be the webhook: print what comes until the task ends or needs something')
    .option('--listen-url <url>', 'how the agent reaches this machine (default: on loopback)');
  addClientFlags(create)
    .addHelpText('after', examples)
    .action(async (taskId: string, flags: PushConfigFlags) => {
      const { runPushConfigCreateCommand: createPushConfig } = await import('./push-config.ts');
      await createPushConfig(create, taskId, flags);
    });
  const list = push.command('list').description('Lists the webhooks of a task.').argument('<taskId>', what);
  addClientFlags(list)
    .addHelpText('after', examples)
    .action(async (taskId: string) => {
      const { runPushConfigListCommand: listPushConfigs } = await import('./push-config.ts');
      await listPushConfigs(list, taskId);
    });
  for (const name of ['get', 'delete'] as const) {
    const command = push
      .command(name)
      .description(name === 'get' ? 'Shows a webhook of a task.' : 'Has the agent forget a webhook.')
      .argument('<taskId>', what)
      .argument('<configId>', 'the configuration');
    addClientFlags(command)
      .addHelpText('after', examples)
      .action(async (taskId: string, id: string) => {
        const { runPushConfigDeleteCommand: deletePushConfig, runPushConfigGetCommand: getPushConfig } =
          await import('./push-config.ts');
        await (name === 'get' ? getPushConfig(command, taskId, id) : deletePushConfig(command, taskId, id));
      });
  }
}
