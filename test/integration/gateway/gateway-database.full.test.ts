import { expect, it, onTestFinished } from 'vitest';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import { readGatewayConfig } from '../../../src/gateway/config/read-gateway-config.ts';
import { runGateway } from '../../../src/gateway/run-gateway.ts';
import { serve } from '../../../src/server/node/serve.ts';
import { hasPostgres, usePostgres } from '../../support/store/postgres-server.ts';

const postgres = usePostgres();

it.skipIf(!hasPostgres)('is not ready while the database of its register does not respond', async () => {
  const agent = defineAgent({ name: 'Up', description: 'Repeats', process: ({ text }) => text });
  const upstream = await serve(agent);
  onTestFinished(() => upstream.stop(0));
  const text = `listen: 0\nstore: "${postgres().url}"\nagents:\n  up:\n    url: ${upstream.url}\n`;
  const gateway = await runGateway(readGatewayConfig(text, 'gateway.yaml', {}));
  onTestFinished(() => gateway.stop(0));
  const readiness = async () => {
    const response = await fetch(`${gateway.url}/readyz`);
    return { code: response.status, ...((await response.json()) as object) };
  };
  await expect
    .poll(readiness)
    .toEqual({ code: 200, status: 'ready', register: 'connected', agents: { up: 'up' } });
  await postgres().halt();
  await expect
    .poll(readiness)
    .toEqual({ code: 503, status: 'unavailable', register: 'unavailable', agents: { up: 'up' } });
  await postgres().launch();
  await expect.poll(readiness).toMatchObject({ code: 200, register: 'connected' });
});
