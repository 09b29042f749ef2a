/** Commands that do their work and end: no open handle keeps the process alive. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runGateway, type RunningGateway } from '../../../src/gateway/run-gateway.ts';
import { readGatewayConfig } from '../../../src/gateway/config/read-gateway-config.ts';
import { serve, type RunningServer } from '../../../src/server/node/serve.ts';
import { sampleAgent } from '../../interop/sample-agent.ts';
import { runDragoman } from '../../support/cli/run-command.ts';

describe('process of a command', () => {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-exit-'));
  const store = `sqlite:${join(folder, 'tasks.db')}`;
  const report = join(folder, 'report.json');
  let agent: RunningServer;
  let gateway: RunningGateway;

  beforeAll(async () => {
    agent = await serve(sampleAgent());
    const config = `listen: 0\nagents: { sample: { url: "${agent.url}" } }\n`;
    gateway = await runGateway(readGatewayConfig(config, join(folder, 'gateway.yaml'), {}));
  });
  afterAll(async () => {
    await gateway?.stop(0);
    await agent?.stop(0);
    rmSync(folder, { recursive: true, force: true });
  });

  const tokens = { CLIENT_A_TOKEN: 'token-a', TRIAL_TOKEN: 'token-trial' };
  const conformance = '--only send --a2a-version 1.0 --transport jsonrpc';
  const lines: [line: string, url?: () => string][] = [
    ['up -c examples/up/dragoman.yaml --check'],
    ['gateway -c examples/gateway/policy.yaml --check'],
    ['gateway explain examples/gateway/policy.yaml --as client-a --agent ledger --operation send'],
    ['mock validate examples/scripts'],
    [`store migrate ${store}`],
    [`store status ${store}`],
    [`push list --store ${store}`],
    [`push retry --store ${store}`],
    ['actions list --agent URL'],
    ['actions invoke sample/echo hello --agent URL'],
    ['send -a URL hello'],
    ['send -a URL stream --stream'],
    ['card get -a URL'],
    ['card list -a URL', () => gateway.url ?? ''],
    ['task list -a URL'],
    ['doctor URL'],
    ['load URL --requests 2 --warm-up 0'],
    [`conformance URL ${conformance} --report json=${report}`],
    [`conformance diff ${report} ${report}`],
  ];
  it.each(lines)('ends after: dragoman %s', async (line, url = () => agent.url) => {
    const words = line.replace('URL', url()).split(' ');
    expect(await runDragoman(words, { env: { ...tokens, HOME: folder } }).ended).toMatchObject({ code: 0 });
  });
});
