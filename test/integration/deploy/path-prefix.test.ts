/** The nginx block with a path prefix of docs/guide/deployment.md. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { connect } from '../../../src/client/connect.ts';
import { defineAgent } from '../../../src/engine/index.ts';
import { serve } from '../../../src/server/node/serve.ts';
import { closeAfterEach } from '../../support/close-after-each.ts';
import { codeBlocksOf } from '../../support/docs/code-blocks.ts';
import { collectStream, expectTask, statesOf, userRequest } from '../../support/engine/conversation.ts';
import { findFreePort } from '../../support/http/free-port.ts';
import { httpGet } from '../../support/http/http-calls.ts';
import { findSystemProgram } from '../../support/process/system-program.ts';

const open = closeAfterEach();
const nginx = findSystemProgram('nginx');
if (!nginx) console.log('skipped: nginx is not installed');

it.skipIf(!nginx)('serves an agent below a path prefix of nginx', async () => {
  const port = await findFreePort();
  const publicUrl = `http://127.0.0.1:${port}/weather`;
  const agent = defineAgent({
    name: 'Weather',
    description: 'Knows the weather',
    async *process({ call }) {
      yield `for ${String(call.headers?.['x-forwarded-proto'])}`;
    },
  });
  const options = { basePath: '/weather', publicUrl, trustProxy: ['127.0.0.1'], grpc: false as const };
  const server = await serve(agent, options);
  open.push({ close: () => server.stop(0) });
  const block = codeBlocksOf('docs/guide/deployment.md').find(({ code }) =>
    code.includes('proxy_pass'),
  )?.code;
  const location = (block ?? '').replace('127.0.0.1:4001', `127.0.0.1:${server.port}`);
  expect(location).not.toBe(block);
  const folder = await mkdtemp(join(tmpdir(), 'dragoman-prefix-'));
  // The workers of nginx run as another user.
  await chmod(folder, 0o755);
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const file = join(folder, 'nginx.conf');
  await writeFile(
    file,
    `daemon off; pid ${folder}/nginx.pid; error_log ${folder}/error.log; events {}
http { access_log off; ${paths.map((each) => `${each}_temp_path ${folder}/${each};`).join(' ')}
server { listen 127.0.0.1:${port};
${location}
} }`,
  );
  const proxy = spawn(nginx ?? '', ['-p', folder, '-c', file]);
  const ended = once(proxy, 'exit');
  open.push({
    close: async () => {
      proxy.kill();
      await ended;
      await rm(folder, { recursive: true });
    },
  });
  const isReady = () =>
    httpGet(`${publicUrl}/readyz`).then(
      ({ status }) => status === 200,
      () => false,
    );
  while (!(await isReady())) if (proxy.exitCode !== null) throw new Error('nginx has exited');

  const client = connect(publicUrl);
  open.push(client);
  expect((await client.card()).interfaces?.map(({ url }) => url)).toContain(publicUrl);
  const task = expectTask(await client.send(userRequest('hi')));
  expect(task.artifacts?.[0]?.parts).toEqual([{ text: 'for http' }]);
  expect(statesOf(await collectStream(client.stream(userRequest('hi')))).at(-1)).toBe('completed');
  expect((await httpGet(`http://127.0.0.1:${port}/elsewhere`)).status).toBe(404);
});
