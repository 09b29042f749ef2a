import { writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { bridge } from '../../../src/bridge/bridge.ts';
import { type BridgeAgentConfig, readBridgeConfig } from '../../../src/bridge/bridge-config.ts';
import { openAgent } from '../../../src/bridge/open-agent.ts';
import type { Supervised } from '../../../src/bridge/supervisor/supervise.ts';
import { connect } from '../../../src/client/connect.ts';
import type { A2AError } from '../../../src/protocol/errors.ts';
import { ManualClock } from '../../support/clocks/manual-clock.ts';
import { isProcessAlive } from '../../support/process/processes.ts';
import { agents, becomes, freeAddress, useSupervisor } from './supervisor-scene.ts';

const { folder, inBuilt, start, writeScript, writeAgent } = useSupervisor();

describe('output and failures of a supervised agent', () => {
  it('does not block an agent that prints 50 MB', async () => {
    const { port, url } = await freeAddress();
    // The agent listens only after all writes have finished.
    const noise = `import { writeSync } from 'node:fs';
      const line = 'x'.repeat(99) + '\\n';
      const block = Buffer.from(line.repeat(1000));
      for (let sent = 0; sent < 50_000_000; ) {
        for (let at = 0; at < block.length; ) {
          try { at += writeSync(2, block, at); } catch (error) { if (error.code !== 'EAGAIN') throw error; }
        }
        sent += block.length;
      }
      writeSync(2, 'done\\n');`;
    let size = 0;
    const run = start({
      command: ['node', writeAgent('noisy.mjs', noise), String(port)],
      url,
      onOutput: ({ stream, text }) => {
        if (stream === 'stderr') size += text.length + 1;
      },
    });
    await run.whenReady();
    await vi.waitFor(() => expect(run.output().at(-1)?.text).toBe('done'));
    expect(size).toBe(50_000_005);
    const retained = run.output().reduce((sum, { text }) => sum + text.length + 1, 0);
    expect(retained).toBeLessThanOrEqual(65_536);
  });

  it('reports the exit code and output of an agent that does not start', async () => {
    const { url } = await freeAddress();
    const file = writeScript('broken.mjs', "console.error('no key for the model'); process.exit(3);");
    const run = start({ command: `node '${file}'`, url });
    await expect(run.whenReady()).rejects.toMatchObject({
      reason: 'UNAVAILABLE',
      message: `The agent at ${url} exited with code 3 before it was ready`,
      hint: 'Last output:\nno key for the model',
    });
    expect(run.state).toBe('failed');
  });

  it('stops an agent that does not respond and reports its output', async () => {
    const { url } = await freeAddress();
    const file = writeScript('mute.mjs', "console.log('thinking'); setInterval(() => {}, 1000);");
    const clock = new ManualClock();
    const run = await new Promise<Supervised>((resolve) => {
      const run = start({ command: ['node', file], url, clock, onOutput: () => resolve(run) });
    });
    const { pid = 0 } = run;
    expect(isProcessAlive(pid)).toBe(true);
    clock.advance(30_000);
    await expect(run.whenReady()).rejects.toMatchObject({
      message: expect.stringMatching(/did not respond within 30 s: Connection refused by http/) as string,
      hint: 'Last output:\nthinking',
    });
    expect(isProcessAlive(pid)).toBe(false);
  });

  it('fails and stops an agent that moves into the background', async () => {
    const { port, url } = await freeAddress();
    const file = writeAgent('forks.mjs');
    const command = ['sh', '-c', `"${process.execPath}" "${file}" ${port} & echo $!; exit 0`];
    const run = start({ command, url });
    const error = (await run.whenReady().catch((thrown: unknown) => thrown)) as A2AError;
    expect(error.message).toMatch(/exited with code 0 before it was ready$/);
    expect(error.hint).toMatch(/^Run the agent in the foreground\. Last output:\n\d+$/);
    expect(run.state).toBe('failed');
    expect(isProcessAlive(Number(run.output()[0]?.text))).toBe(false);
  });

  it.each([
    ['serves HTML for every path', (response: ServerResponse) => response.end('<html>Welcome</html>')],
    ['serves an empty object for every path', (response: ServerResponse) => response.end('{}')],
    ['responds 404 to everything', (response: ServerResponse) => response.writeHead(404).end()],
    ['never responds', () => {}],
  ])('fails when its port is used by a server that %s', async (_what, respond) => {
    const otherServer = createServer((_, response) => void respond(response));
    await new Promise<void>((resolve) => otherServer.listen(0, '127.0.0.1', resolve));
    const { port } = otherServer.address() as AddressInfo;
    const file = writeAgent('late.mjs');
    const run = start({
      command: [process.execPath, file, String(port)],
      url: `http://127.0.0.1:${port}`,
      startupTimeout: 60_000,
    });
    const error = (await run.whenReady().catch((thrown: unknown) => thrown)) as A2AError;
    expect(error.message).toMatch(/exited with code 1 before it was ready$/);
    expect(error.hint).toContain('EADDRINUSE');
    otherServer.closeAllConnections();
    await new Promise((resolve) => otherServer.close(resolve));
  });

  it('fails when the program does not exist', async () => {
    const { url } = await freeAddress();
    const run = start({ command: 'no-such-program-anywhere --port 1', url });
    await expect(run.whenReady()).rejects.toThrow(
      `The agent at ${url} failed to start: spawn no-such-program-anywhere ENOENT`,
    );
  });
});

describe('environment of a supervised agent', () => {
  it('uses workingDir, and envFile overrides env and the environment of the process', async () => {
    const { port, url } = await freeAddress();
    writeFileSync(join(folder, '.env'), 'AGENT_NAME="From a file" # not from here\n');
    const file = writeAgent('placed.mjs');
    const run = start({
      command: ['node', file, String(port)],
      url,
      workingDir: folder,
      env: { AGENT_NAME: 'From the options' },
      envFile: join(folder, '.env'),
    });
    await run.whenReady();
    const agent = connect(url);
    expect(await agent.card()).toMatchObject({ name: 'From a file', description: folder });
    await agent.close();
  });

  it('checks once that an agent started elsewhere is running and does not stop it', async () => {
    const { port, url } = await freeAddress();
    const checking = start({ url });
    await expect(checking.whenReady()).rejects.toMatchObject({
      reason: 'UNAVAILABLE',
      message: `The agent at ${url} is not available: Connection refused by ${url}`,
      hint: 'Check that the agent is running and that the URL is correct.',
    });
    expect(checking.state).toBe('failed');
    const other = start({ command: ['node', writeAgent('other.mjs'), String(port)], url: `${url}/` });
    await other.whenReady();
    await checking.whenReady();
    expect(checking).toMatchObject({ state: 'ready', pid: undefined, error: undefined });
    await checking.stop();
    expect(checking.state).toBe('stopped');
    await expect(checking.whenReady()).rejects.toThrow(`The agent at ${url} was stopped`);
    expect(isProcessAlive(other.pid ?? 0)).toBe(true);
  });
});

describe('openAgent', () => {
  it('starts the configured agent and serves actions through a crash', async () => {
    const { port, url } = await freeAddress();
    const text = `agent_name: echo
a2a_server_url: ${url}
a2a_server_command: node '${join(agents, 'sdk-0.3.mjs')}' ${port}
a2a_server_working_dir: ${folder}
`;
    const [config] = readBridgeConfig(text, join(folder, 'bridge.yaml'), {});
    const opened = openAgent(config as BridgeAgentConfig, {
      supervise: { reaperPath: inBuilt('orphan-reaper.js'), minDelay: 20, stopTimeout: 200 },
    });
    // The agent is not ready yet; the bridge waits.
    const actions = await bridge({ ...opened.bridge });
    expect(actions.actions().map(({ name }) => name)).toContain('echo/echo');
    expect(await actions.invoke('echo/echo', { prompt: 'pid' })).toMatchObject({
      success: true,
      message: String(opened.supervised.pid),
    });
    const isRestarting = becomes(opened.supervised, 'restarting');
    process.kill(opened.supervised.pid ?? 0, 'SIGKILL');
    await isRestarting;
    expect(await actions.invoke('echo/echo', { prompt: 'again' })).toMatchObject({
      success: true,
      message: 'again',
    });
    await actions.close();
    await opened.close();
    expect(opened.supervised.state).toBe('stopped');
    expect(await actions.invoke('echo/echo', { prompt: 'gone' })).toMatchObject({ success: false });
  });
});
