import { type Command, InvalidArgumentError, Option } from 'commander';
import { taskStates } from '../../../protocol/task.ts';
import { addClientFlags } from '../../client/flags.ts';
import { addPushConfig } from './push-config-command.ts';
import type { DownloadFlags } from './download.ts';
import type { TaskFlags } from './run.ts';

const examples = `
Examples:
  $ dragoman task get 0197a3f2 -a http://localhost:4000
  $ dragoman task get 0197a3f2 --wait --timeout 5m -a agents.example.com
  $ dragoman task list --status completed --page-size 20 -a agents.example.com
  $ dragoman task cancel 0197a3f2 -a agents.example.com
  $ dragoman task subscribe 0197a3f2 --stream -a agents.example.com
  $ dragoman task download 0197a3f2 --out results -a agents.example.com
  $ dragoman task push-config list 0197a3f2 -a agents.example.com`;

const states = taskStates.filter((state) => state !== 'unknown');

/** Adds `dragoman task`. */
export function addTask(program: Command): void {
  const task = program
    .command('task')
    .description('Looks after the tasks of an agent.')
    .addHelpText('after', examples);
  const what = 'the task, as the agent named it';
  const get = task
    .command('get')
    .description('Shows a task: its state, what it made, and what was said.')
    .argument('<taskId>', what)
    .addOption(historyOption());
  addClientFlags(get, ['waiting'])
    .addHelpText('after', examples)
    .action(async (id: string, flags: TaskFlags) => {
      const { runTaskGetCommand: getTask } = await import('./run.ts');
      await getTask(get, id, flags);
    });
  const cancel = task.command('cancel').description('Ends a task.').argument('<taskId>', what);
  addClientFlags(cancel, ['metadata'])
    .addHelpText('after', examples)
    .action(async (id: string) => {
      const { runTaskCancelCommand: cancelTask } = await import('./run.ts');
      await cancelTask(cancel, id);
    });
  addList(task);
  const subscribe = task
    .command('subscribe')
    .description('Follows a task until it ends or needs something; --stream prints each event as it comes.')
    .argument('<taskId>', what);
  addClientFlags(subscribe, ['waiting'])
    .addHelpText('after', examples)
    .action(async (id: string) => {
      const { runTaskSubscribeCommand: subscribeTask } = await import('./run.ts');
      await subscribeTask(subscribe, id);
    });
  addDownload(task, what);
  addPushConfig(task);
}

function addList(task: Command): void {
  const list = task
    .command('list')
    .description('Lists tasks, the newest first, page by page.')
    .addOption(new Option('--status <state>', 'only those in this state').argParser(stateOf))
    .option('--context-id <id>', 'only those of this context')
    .option('--after <time>', 'only those whose state changed after this time, as 2026-01-31T12:00:00Z')
    .addOption(new Option('--page-size <number>', 'how many at once, 1 to 100').argParser(countOf(100)))
    .option('--page-token <token>', 'the page to show, as the page before named it')
    .option('--all', 'all pages')
    .option('--artifacts', 'with what they made')
    .addOption(historyOption());
  addClientFlags(list)
    .addHelpText('after', examples)
    .action(async (flags: TaskFlags) => {
      const { runTaskListCommand: listTasks } = await import('./run.ts');
      await listTasks(list, flags);
    });
}

function addDownload(task: Command, what: string): void {
  const download = task
    .command('download')
    .description('Saves what a task made as files.')
    .argument('<taskId>', what)
    .option('--out <folder>', 'where to put them', '.')
    .option('--artifact <id>', 'only this one')
    .option('--fetch', 'fetch files that are given by a URL too')
    .option('--force', 'write over files that are there');
  addClientFlags(download)
    .addHelpText('after', examples)
    .action(async (id: string, flags: DownloadFlags) => {
      const { runTaskDownloadCommand: downloadTask } = await import('./download.ts');
      await downloadTask(download, id, flags);
    });
}

function historyOption(): Option {
  return new Option('--history <n>', 'how many messages of the history to show').argParser(
    countOf(10_000, 0),
  );
}

function countOf(max: number, min = 1): (text: string) => number {
  return (text) => {
    const count = Number(text);
    if (/^\d+$/.test(text) && count >= min && count <= max) return count;
    throw new InvalidArgumentError(`It is a number from ${min} to ${max}.`);
  };
}

function stateOf(text: string): string {
  const state = text
    .toLowerCase()
    .replace(/^task_state_/, '')
    .replaceAll('_', '-');
  if (states.some((each) => each === state)) return state;
  throw new InvalidArgumentError(`It is one of ${states.join(', ')}.`);
}
