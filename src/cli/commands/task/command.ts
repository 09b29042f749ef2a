import { type Command, InvalidArgumentError, Option } from 'commander';
import { taskStates } from '../../../protocol/task.ts';
import { addClientFlags } from '../../client/flags.ts';
import { countParser } from '../../inputs/parse-count.ts';
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
  $ dragoman task download 0197a3f2 --dir results -a agents.example.com
  $ dragoman task push-config list 0197a3f2 -a agents.example.com`;

const states = taskStates.filter((state) => state !== 'unknown');

/** Adds `dragoman task`. */
export function addTask(program: Command): void {
  const task = program
    .command('task')
    .description('Get, list, cancel and subscribe to tasks.')
    .addHelpText('after', examples);
  const get = task
    .command('get')
    .description('Print a task with its state, artifacts and history.')
    .argument('<taskId>', 'task ID')
    .addOption(historyOption());
  addClientFlags(get, ['waiting'])
    .addHelpText('after', examples)
    .action(async (id: string, flags: TaskFlags) =>
      (await import('./run.ts')).runTaskGetCommand(get, id, flags),
    );
  const cancel = task.command('cancel').description('Cancel a task.').argument('<taskId>', 'task ID');
  addClientFlags(cancel, ['metadata'])
    .addHelpText('after', examples)
    .action(async (id: string) => (await import('./run.ts')).runTaskCancelCommand(cancel, id));
  addList(task);
  const subscribe = task
    .command('subscribe')
    .description(
      'Subscribe to a task until it reaches a terminal or interrupted state. --stream prints each event.',
    )
    .argument('<taskId>', 'task ID');
  addClientFlags(subscribe, ['waiting'])
    .addHelpText('after', examples)
    .action(async (id: string) => (await import('./run.ts')).runTaskSubscribeCommand(subscribe, id));
  addDownload(task);
  addPushConfig(task);
}

function addList(task: Command): void {
  const list = task
    .command('list')
    .description('List tasks, newest first, one page at a time.')
    .addOption(new Option('--status <state>', 'task state to filter by').argParser(parseState))
    .option('--context-id <id>', 'context ID to filter by')
    .option('--after <time>', 'time of the last state change to filter by, such as 2026-01-31T12:00:00Z')
    .addOption(
      new Option('--page-size <n>', 'number of tasks per page, 1 to 100').argParser(countParser(100)),
    )
    .option('--page-token <token>', 'token of the page, as printed with the previous page')
    .option('--all', 'fetch all pages')
    .option('--artifacts', 'include artifacts')
    .addOption(historyOption());
  addClientFlags(list)
    .addHelpText('after', examples)
    .action(async (flags: TaskFlags) => (await import('./run.ts')).runTaskListCommand(list, flags));
}

function addDownload(task: Command): void {
  const download = task
    .command('download')
    .description('Download the artifacts of a task.')
    .argument('<taskId>', 'task ID')
    .option('--dir <directory>', 'directory for the files', '.')
    .option('--artifact <id>', 'artifact ID to filter by')
    .option('--fetch', 'also fetch files that are given by a URL')
    .option('--force', 'overwrite existing files');
  addClientFlags(download)
    .addHelpText('after', examples)
    .action(async (id: string, flags: DownloadFlags) =>
      (await import('./download.ts')).runTaskDownloadCommand(download, id, flags),
    );
}

function historyOption(): Option {
  return new Option('--history <n>', 'number of history messages to include').argParser(
    countParser(10_000, 0),
  );
}

function parseState(text: string): string {
  const state = text
    .toLowerCase()
    .replace(/^task_state_/, '')
    .replaceAll('_', '-');
  if (states.some((each) => each === state)) return state;
  throw new InvalidArgumentError(`Use one of ${states.join(', ')}.`);
}
