/** Resident memory of processes that pass on a large file over gRPC. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { closeAfterEach } from '../../support/close-after-each.ts';

const open = closeAfterEach();
const size = 100_000_000;

/**
 * Copies of a file in one message that a process has at a time at most: bytes on the wire, base64 in the model, and
 * buffers of codecs on both sides.
 */
const maxCopies = 9;

/** Bytes for a file in chunks of one megabyte, whatever its size. */
const maxForChunks = 250_000_000;

interface Peer {
  readonly process: ChildProcess;
  readonly url: string;
  /** Resident memory before the transfer. */
  readonly before: number;
}

async function ask(process: ChildProcess, message: object): Promise<any> {
  const answer = once(process, 'message');
  process.send(message);
  return (await answer)[0];
}

async function start(role: 'server' | 'gateway' | 'client', url = ''): Promise<Peer> {
  const file = join(import.meta.dirname, 'fixtures/grpc-file-peer.mjs');
  const process = fork(file, [role, url], { execArgv: [] });
  open.push({
    close: async () => {
      const ended = once(process, 'exit');
      process.kill('SIGKILL');
      await ended;
    },
  });
  const [started] = (await once(process, 'message')) as [{ url?: string }];
  const { resident } = await ask(process, { kind: 'measure' });
  return { process, url: started.url ?? '', before: resident };
}

/** Transfers the file, and returns the additional memory of each process in bytes. */
async function transfer(kind: 'send' | 'whole' | 'chunks', withGateway: boolean) {
  const server = await start('server');
  const gateway = withGateway ? await start('gateway', server.url) : undefined;
  const client = await start('client', (gateway ?? server).url);
  expect(await ask(client.process, { kind, size })).toMatchObject({ isSame: true });
  const used = async ({ process, before }: Peer): Promise<number> =>
    (await ask(process, { kind: 'measure' })).peak - before;
  return {
    server: await used(server),
    client: await used(client),
    gateway: gateway ? await used(gateway) : 0,
  };
}

describe('a file of 100 MB over gRPC', () => {
  it.each([
    ['from a client to a server', 'send', false],
    ['from a client through a gateway', 'send', true],
    ['from a server through a gateway', 'whole', true],
  ] as const)('needs a limited number of copies %s in one message', async (_title, kind, withGateway) => {
    const used = await transfer(kind, withGateway);
    for (const bytes of Object.values(used)) expect(bytes).toBeLessThan(maxCopies * size);
  });

  it('needs memory for some chunks only, through a gateway', async () => {
    const { gateway, client } = await transfer('chunks', true);
    expect(gateway).toBeLessThan(maxForChunks);
    expect(client).toBeLessThan(maxForChunks);
  });
});
