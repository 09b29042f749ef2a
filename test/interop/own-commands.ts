import {
  type ClientInstruction,
  clientOperations,
  type ClientUnderTest,
} from '../../src/conformance/clients/client-under-test.ts';
import type { Task } from '../../src/protocol/task.ts';
import type { CommandResult } from '../support/cli/run-command.ts';
import { runInProcess } from '../support/cli/run-in-process.ts';

/** The client commands of this project in the process of the test, for the tests of clients. */
export const ownCommands: ClientUnderTest = {
  name: 'dragoman',
  command: 'dragoman {operation} -a {url}',
  operations: clientOperations,
  takesToken: true,
  async run(instruction, signal) {
    const { code, stdout, stderr } = await perform(instruction);
    return { code: code ?? undefined, isTimeout: signal.aborted, stdout, stderr };
  },
};

async function perform({
  operation,
  url,
  token,
  text,
  reply,
  taskId: id,
}: ClientInstruction): Promise<CommandResult> {
  const run = (...words: string[]): Promise<CommandResult> =>
    // Commands cannot be ended from outside: the time limit ends each one.
    runInProcess([...words, '-a', url, '-o', 'json', '--bearer', token, '--timeout', '60s']);
  switch (operation) {
    case 'send':
      return run('send', text);
    case 'stream':
      return run('send', text, '--stream');
    case 'converse': {
      const first = await run('send', text);
      const { task } = JSON.parse(first.stdout || '{}') as { task?: Task };
      return task ? run('send', reply, '--task-id', task.id, '--context-id', task.contextId) : first;
    }
    case 'get':
      return run('task', 'get', id);
    case 'list':
      return run('task', 'list');
    case 'cancel':
      return run('task', 'cancel', id);
    case 'subscribe':
      return run('task', 'subscribe', id);
    case 'push':
      return run('task', 'push-config', 'create', id, '--listen');
    case 'extended-card':
      return run('card', 'get', '--extended');
  }
}
