import { once } from 'node:events';
import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { buildReport } from '../../../src/conformance/report/build-report.ts';
import { reportFormats, writeReport } from '../../../src/conformance/report/report-formats.ts';
import { Redactor } from '../../../src/primitives/redaction/redaction.ts';
import { closeAfterEach } from '../../support/close-after-each.ts';
import { testReachableAgent } from '../../support/conformance/reachable-agent.ts';
import { startRawServer } from '../../support/http/raw-server.ts';

const open = closeAfterEach();
const headers = { ':status': 200, 'content-type': 'application/grpc' };

/** Listens for HTTP/2 and behaves in the same way for all calls. */
async function listen(behave: (stream: ServerHttp2Stream) => void): Promise<string> {
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('error', () => {});
  });
  server.on('stream', (stream) => {
    stream.on('error', () => {});
    behave(stream);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  open.push({
    async close() {
      server.close();
      for (const session of sessions) session.destroy();
    },
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const message = Buffer.concat([Buffer.from([0, 0, 0, 0, 200]), Buffer.alloc(200, 0x0a)]);

const behaviors: [string, (stream: ServerHttp2Stream) => void][] = [
  ['hangs', () => undefined],
  ['resets every call', (stream) => stream.destroy(new Error('no'))],
  ['closes the connection', (stream) => stream.session?.destroy()],
  ['ends without trailers', (stream) => stream.respond(headers, { endStream: true })],
  [
    'sends garbage',
    (stream) => {
      stream.respond(headers);
      stream.end(Buffer.alloc(300, 0xff));
    },
  ],
  [
    'announces 4 GiB',
    (stream) => {
      stream.respond(headers);
      stream.write(Buffer.from([0, 0xff, 0xff, 0xff, 0xff, 1, 2, 3]));
    },
  ],
  [
    'sends messages without end',
    (stream) => {
      stream.respond(headers);
      const more = (): void => {
        while (!stream.destroyed && stream.write(message));
        if (!stream.destroyed) stream.once('drain', more);
      };
      more();
    },
  ],
  [
    'sends a status that cannot be read',
    (stream) =>
      stream.respond(
        { ...headers, 'grpc-status': 'x', 'grpc-message': '%', 'grpc-status-details-bin': '////' },
        { endStream: true },
      ),
  ],
];

describe('dragoman conformance with a malformed agent over gRPC', () => {
  it.each(behaviors)(
    'returns a report in time if the agent %s',
    async (_name, behave) => {
      const url = await listen(behave);
      const card = {
        name: 'Bad',
        description: 'Behaves badly',
        version: '1',
        supportedInterfaces: [
          { url, protocolBinding: 'GRPC', protocolVersion: '1.0' },
          { url, protocolBinding: 'GRPC', protocolVersion: '0.3' },
        ],
        capabilities: { streaming: true, pushNotifications: true },
        defaultInputModes: ['text/plain'],
        defaultOutputModes: ['text/plain'],
        skills: [{ id: 'bad', name: 'Bad', description: 'Bad', tags: ['bad'] }],
      };
      const server = await startRawServer((_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(card));
      });
      open.push({ close: () => server.close() });
      const outcome = await testReachableAgent(server.url);
      expect(outcome.unreachable).toBeUndefined();
      const errors = outcome.results.filter(({ verdict }) => verdict === 'error');
      expect(errors.map(({ rule, message: text }) => `${rule.id}: ${text}`)).toEqual([]);
      expect(outcome.results.some(({ verdict }) => verdict === 'fail')).toBe(true);
      const report = buildReport(outcome, { suite: 'dragoman 0', command: 'test', redactor: new Redactor() });
      for (const form of reportFormats) expect(writeReport(report, form).length).toBeGreaterThan(100);
      expect(report.conformanceLevel).toBe('non-conformant');
    },
    60_000,
  );
});
