/** Flags and variables of the export of telemetry, and collectors that do not respond. */
import { describe, expect, it } from 'vitest';
import { serveModule } from '../../support/cli/run-command.ts';
import { runInProcess } from '../../support/cli/run-in-process.ts';
import { closeAfterEach } from '../../support/close-after-each.ts';
import { httpGet, httpPost } from '../../support/http/http-calls.ts';
import { OtlpReceiver } from '../../support/tracing/otlp-receiver.ts';

const open = closeAfterEach();

/** Serves the echo agent until the end of the test. */
async function serveEcho(flags: string[], env: Record<string, string> = {}): ReturnType<typeof serveModule> {
  const agent = await serveModule('examples/echo.js', flags, { env });
  open.push({ close: () => agent.stop('SIGKILL') });
  return agent;
}

const params = { message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hi' }] } };
const send = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params };
const headers = { 'a2a-version': '1.0' };

describe('export of telemetry', () => {
  it('sends telemetry to --otlp without a page for Prometheus', async () => {
    const receiver = await OtlpReceiver.start();
    open.push(receiver);
    const agent = await serveEcho(['--otlp', receiver.url]);
    await httpPost(agent.url, send, headers);
    expect((await httpGet(`${agent.url}/metrics`)).status).toBe(404);
    await agent.stop();
    expect(receiver.spans.all.map(({ name }) => name)).toContain('SendMessage');
    expect(receiver.metrics.all.map(({ name }) => name)).toContain('a2a.server.operation.duration');
  });

  it('rejects a wrong --otlp and warns about a protocol that is not supported', async () => {
    const wrong = await runInProcess(['serve', 'examples/echo.js', '--port', '0', '--otlp', 'ftp://x']);
    expect(wrong).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--otlp: otlp must be the http'),
    });
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' };
    const agent = await serveEcho([], env);
    expect((await httpPost(agent.url, send, headers)).status).toBe(200);
    expect(agent.stderr).toContain('No telemetry is exported: OTEL_EXPORTER_OTLP_PROTOCOL is grpc');
  });

  it('keeps serving if the collector does not respond', async () => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_EXPORTER_OTLP_TIMEOUT: '500' };
    const agent = await serveEcho([], env);
    expect((await httpPost(agent.url, send, headers)).status).toBe(200);
    expect(await agent.stop()).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('OpenTelemetry export: '),
    });
  });
});
