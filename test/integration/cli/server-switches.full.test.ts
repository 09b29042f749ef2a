import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { runDragoman, type RunningCommand } from '../../support/cli/run-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-switches-'));
const running: RunningCommand[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((each) => each.stop('SIGKILL')));
});

afterAll(() => rmSync(folder, { recursive: true }));

/** Starts a server command and returns its URL. */
async function start(args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const command = runDragoman(args, { env });
  running.push(command);
  const [, url = ''] = await command.prints(/listening on (\S+)\n/);
  return url;
}

/** Node writes the length before the date, the fast path after all other headers. */
async function usesFastPath(url: string): Promise<boolean> {
  const headers = { 'content-type': 'application/json' };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    // The server rejects this call itself, so that a gateway needs no upstream.
    request(url, { method: 'POST', headers }, resolve).on('error', reject).end('{}');
  });
  response.resume();
  const names = response.rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase());
  expect(names).toEqual(expect.arrayContaining(['content-length', 'date']));
  return names.indexOf('content-length') > names.indexOf('date');
}

const serveEcho = ['serve', 'examples/echo.js', '--port', '0'];

function gateway(setting: string): string[] {
  const file = join(folder, 'gateway.yaml');
  writeFileSync(file, `listen: 0\n${setting}\nagents: { a: { url: "http://127.0.0.1:9" } }\n`);
  return ['gateway', '-c', file];
}

describe('fast path', () => {
  it.each<[string, () => string[], Record<string, string>, boolean]>([
    ['is used by serve', () => serveEcho, {}, true],
    ['is disabled by --no-fast-path', () => [...serveEcho, '--no-fast-path'], {}, false],
    ['is disabled by DRAGOMAN_FAST_PATH=0', () => serveEcho, { DRAGOMAN_FAST_PATH: '0' }, false],
    ['is disabled by DRAGOMAN_FAST_PATH=false', () => serveEcho, { DRAGOMAN_FAST_PATH: 'false' }, false],
    ['is used by gateway', () => gateway(''), {}, true],
    ['is disabled by fast_path: false', () => gateway('fast_path: false'), {}, false],
    ['is disabled in a gateway by the environment', () => gateway(''), { DRAGOMAN_FAST_PATH: '0' }, false],
    [
      'is enabled by fast_path: true against the environment',
      () => gateway('fast_path: true'),
      { DRAGOMAN_FAST_PATH: '0' },
      true,
    ],
  ])('%s', async (_title, args, env, expected) => {
    const command = args();
    const path = command[0] === 'gateway' ? '/agents/a' : '/';
    expect(await usesFastPath(`${await start(command, env)}${path}`)).toBe(expected);
  });
});

describe.each([
  ['serve', serveEcho],
  ['mock', ['mock', '--port', '0']],
  ['tap', ['tap', '--to', 'http://127.0.0.1:9', '--port', '0']],
])('%s without authentication', (_name, args) => {
  it('prints a warning if other hosts can connect', async () => {
    await start([...args, '--host', '0.0.0.0']);
    await running[0]?.prints(/^warning: Listening on 0\.0\.0\.0 without authentication/, 'stderr');
  });

  it('prints no warning on a loopback address', async () => {
    await start(args);
    expect(running[0]?.stderr).not.toContain('without authentication');
  });
});

describe('gRPC', () => {
  const offersGrpc = async (url: string): Promise<boolean> =>
    (await (await fetch(`${url}/.well-known/agent-card.json`)).text()).includes('"GRPC"');

  it.each<[string, string[], Record<string, string>, boolean]>([
    ['is served by serve', serveEcho, {}, true],
    ['is disabled by --no-grpc', [...serveEcho, '--no-grpc'], {}, false],
    ['is disabled by DRAGOMAN_GRPC=0', serveEcho, { DRAGOMAN_GRPC: '0' }, false],
  ])('%s', async (_title, args, env, expected) => {
    expect(await offersGrpc(await start(args, env))).toBe(expected);
  });
});

describe('preview', () => {
  it('is offered by serve --preview 1.1 only', async () => {
    const send = async (url: string): Promise<string> => {
      const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hi' }] };
      const response = await fetch(`${url}/message:send`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
        body: JSON.stringify({ message }),
      });
      return response.text();
    };
    expect(await send(await start([...serveEcho, '--preview', '1.1']))).toMatch(/"generation":"\d+"/);
    expect(await send(await start(serveEcho))).not.toContain('generation');
  });
});
