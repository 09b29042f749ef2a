import { describe, expect, it } from 'vitest';
import { runDragoman, type RunningCommand } from '../../support/cli/run-command.ts';
import { closeAfterEach } from '../../support/close-after-each.ts';

const open = closeAfterEach();

function start(...args: string[]): RunningCommand {
  const started = runDragoman(['console', ...args]);
  open.push({ close: () => started.stop('SIGKILL') });
  return started;
}

describe('dragoman console', () => {
  it('prints the URL with the token as text', async () => {
    const started = start('--port', '0', '--token', 'a-token-for-this-test');
    await started.prints(/Console {2}http:\/\/127\.0\.0\.1:\d+\/\?token=a-token-for-this-test\n/);
  });

  it('uses a free port if the default port is in use and rejects an explicit port in use', async () => {
    const one = start('--port', '0', '-o', 'json');
    const [line = ''] = await one.prints(/^\{.*\}\n/);
    const { port } = new URL(JSON.parse(line).origin);
    const { code, stderr } = await start('--port', port).ended;
    expect(code).toBe(2);
    expect(stderr).toContain(`Port ${port} is in use`);
  });
});
