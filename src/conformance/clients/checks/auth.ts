import { NotApplicableError } from '../../check-errors.ts';
import { jsonTransports, must, should } from '../../rule-model.ts';
import { clientVersions, type ClientCheck, defineClientChecks } from '../client-check.ts';
import type { ClientProbe } from '../client-probe.ts';
import { callsOf, type ClientRun, isSuccess, messagesOf } from '../client-run.ts';
import { listOf, objectOf, objectsOf } from '../../drivers/normalized-views.ts';
import type { ReceivedCall, ReceivedRequest } from '../server/received-request.ts';
import type { AgentScript } from '../server/suite-agent.ts';

const carriesToken = ({ headers, target, body }: ReceivedRequest, { instruction }: ClientRun): boolean =>
  [...Object.values(headers), target, body].some((text) => text.includes(instruction.token));

/** Rejects messages without a token. */
const securedScript: AgentScript = {
  features: { security: true },
  reply: (call, { headers }) =>
    call.message && headers.authorization === undefined
      ? {
          kind: 'raw',
          status: 401,
          headers: { 'www-authenticate': 'Bearer realm="agent"', 'content-type': 'application/json' },
          body: '{"error": "unauthorized"}',
        }
      : undefined,
};

/** Runs the client against an agent that requires a token. @throws NotApplicableError if the client sends none */
async function runWithToken(probe: ClientProbe, script: AgentScript = {}): Promise<ClientRun> {
  const run = await probe.run('send', { ...securedScript, ...script });
  if (!run.requests.some((request) => carriesToken(request, run)))
    throw new NotApplicableError(
      'The client does not use the token of the instruction: pass it with {token} or A2A_TOKEN.',
    );
  return run;
}

/** Checks how a client uses credentials. */
export const clientAuthChecks: readonly ClientCheck[] = defineClientChecks(
  { category: 'error-handling', versions: clientVersions },
  [
    {
      id: 'client-auth.credentials',
      ...must('7.3', 'XCARD-001', '0.3/4.3'),
      sentence: 'A client sends its credentials as the security scheme of the card says, in headers.',
      remedy: 'For the scheme Bearer, send Authorization: Bearer and the token with every request.',
      async run(probe) {
        const run = await probe.run('send', securedScript);
        const calls = messagesOf(run);
        const expected = `Bearer ${run.instruction.token}`;
        const hasToken = run.requests.some((request) => carriesToken(request, run));
        if (!hasToken && !probe.takesToken)
          throw new NotApplicableError(
            'The client does not use the token of the instruction: pass it with {token} or A2A_TOKEN.',
          );
        // Some clients send credentials only after a challenge.
        const last = calls.at(-1)?.headers.authorization ?? '';
        probe.expect(
          run,
          last.replace(/^bearer /i, 'Bearer ') === expected,
          'The message has no token of the scheme Bearer.',
          {
            expected: 'Authorization: Bearer and the token',
            actual: last === '' ? 'none' : last.split(' ')[0],
          },
        );
        probe.expectSuccess(run, 'send', 'the agent accepted the token');
      },
    },
    {
      id: 'client-auth.challenge',
      ...must('3.3.2', 'ERR-003'),
      transports: jsonTransports,
      sentence:
        'A client reports that its credentials were rejected and does not repeat the message without end.',
      remedy: 'Turn HTTP 401 and 403 into errors of the client; try new credentials once.',
      async run(probe) {
        for (const status of [401, 403]) {
          const run = await probe.run('send', {
            features: { security: true },
            reply: (call) =>
              call.message && {
                kind: 'raw',
                status,
                headers: { 'www-authenticate': 'Bearer realm="agent"' },
                body: 'denied',
              },
          });
          probe.expectVisibleError(run, `the agent responded with HTTP ${status}`);
          const count = messagesOf(run).length;
          probe.expect(
            run,
            count <= 3,
            `The client sent the message ${count} times with rejected credentials.`,
          );
        }
      },
    },
    {
      id: 'client-auth.grpc-status',
      ...must('3.3.2', 'ERR-003'),
      versions: ['1.0', '0.3'],
      transports: ['GRPC'],
      sentence: 'A client reports a status of gRPC other than OK as an error.',
      remedy: 'Read grpc-status from the trailers of the response.',
      async run(probe) {
        const message = 'denied-by-the-agent';
        const run = await probe.run('send', {
          reply: (call) => call.message && { kind: 'error', error: 'VersionNotSupported', message },
        });
        probe.expectVisibleError(run, 'the call ended with the status FAILED_PRECONDITION', message);
      },
    },
    {
      id: 'client-auth.redirection',
      ...should('13.4', 'SEC-008', 'RFC 9110/15.4'),
      transports: jsonTransports,
      sentence: 'A client does not send its credentials to another origin to which the agent redirects.',
      remedy: 'Do not follow redirections of calls, or remove credentials when the origin changes.',
      async run(probe) {
        const run = await runWithToken(probe, {
          reply: (call, { addresses }) =>
            call.message && {
              kind: 'raw',
              status: 307,
              headers: { location: `${addresses.other}/elsewhere` },
            },
        });
        expectNoTokenAtOther(probe, run, 'after a redirection');
      },
    },
    {
      id: 'client-auth.card-redirection',
      ...should('13.4', 'SEC-008', 'RFC 9110/15.4'),
      transports: jsonTransports,
      sentence: 'A client does not send its credentials to another origin to which the card is redirected.',
      remedy: 'Fetch cards without credentials, or remove them when the origin changes.',
      async run(probe) {
        await runWithToken(probe);
        const run = await probe.run('send', {
          ...securedScript,
          hasBrokenCard: true,
          card: (_card, { other }) => ({
            kind: 'raw',
            status: 302,
            headers: { location: `${other}/card.json` },
          }),
        });
        expectNoTokenAtOther(probe, run, 'after a redirection of the card');
      },
    },
    {
      id: 'client-auth.file-url',
      ...should('13.4', 'SEC-008'),
      sentence: 'A client does not send its credentials to another origin from which it fetches a file.',
      remedy: 'Fetch files without credentials, unless they have the origin of the agent.',
      async run(probe) {
        const run = await runWithToken(probe, {
          replyAtOther: () => ({
            kind: 'raw',
            status: 200,
            headers: { 'content-type': 'text/plain' },
            body: 'content',
          }),
          reply: (call, { agent, addresses }) =>
            call.message && {
              kind: 'content',
              content: { kind: 'task', task: agent.task(call, 'completed') },
              alter: (wire) => withFile(call, wire, `${addresses.other}/file.txt`),
            },
        });
        if (!run.requests.some(({ origin }) => origin === 'other'))
          throw new NotApplicableError('The client does not fetch files to which an artifact refers.');
        expectNoTokenAtOther(probe, run, 'with a request for a file');
      },
    },
    {
      id: 'client-auth.certificate',
      ...should('7.2', 'AUTH-003'),
      transports: jsonTransports,
      sentence: 'A client verifies the certificate of a server.',
      remedy: 'Do not turn off the verification of certificates; let users add certificate authorities.',
      async run(probe) {
        const { transport } = probe.variant;
        const run = await probe.run('send', {
          hasUntrustedServer: true,
          hasBrokenCard: true,
          interfaces: ({ untrusted = '', agent, interfaces }) => [
            { transport, url: interfaces[transport].replace(agent, untrusted) },
          ],
        });
        const sent = run.requests.filter(({ origin }) => origin === 'untrusted');
        probe.expect(
          run,
          sent.length === 0,
          'The client sent a request to a server with a self-signed certificate.',
        );
        // A client may try another address of the agent, so that it need not fail.
        probe.expectEnd(run, 'the certificate of the interface is self-signed');
      },
    },
    {
      id: 'client-auth.not-in-url',
      ...should('13.4', 'SEC-008', 'RFC 6750/2.3'),
      transports: jsonTransports,
      sentence: 'A client does not send a bearer token in a URL.',
      remedy: 'Send tokens in the header Authorization.',
      async run(probe) {
        const run = await runWithToken(probe);
        const inUrl = run.requests.filter(({ target }) => target.includes(run.instruction.token));
        probe.expect(run, inUrl.length === 0, 'A URL contains the token, so that logs and proxies store it.');
      },
    },
    {
      id: 'client-extended.credentials',
      ...must('3.1.11', 'XCARD-001'),
      versions: ['1.0', '0.3'],
      needs: 'extended-card',
      category: 'agent-card',
      sentence: 'A client authenticates its request for the extended card with a scheme of the public card.',
      remedy: 'Send the same credentials as with other requests.',
      async run(probe) {
        const run = probe.require('extended-card');
        const [call] = callsOf(run, 'extendedCard');
        if (!probe.takesToken && !run.requests.some((request) => carriesToken(request, run)))
          throw new NotApplicableError(
            'The client does not use the token of the instruction: pass it with {token} or A2A_TOKEN.',
          );
        probe.expect(
          run,
          call && carriesToken(call, run),
          'The request for the extended card has no credentials.',
        );
        probe.expect(run, isSuccess(run), 'The client failed although it received the extended card.');
      },
    },
  ],
);

/** Adds a file to the only artifact of a result. */
function withFile({ version, transport }: ReceivedCall, wire: object, url: string): object {
  const part =
    version === '1.0'
      ? { url, filename: 'file.txt', mediaType: 'text/plain' }
      : transport === 'JSONRPC'
        ? {
            [version === '0.1' ? 'type' : 'kind']: 'file',
            file: { uri: url, name: 'file.txt', mimeType: 'text/plain' },
          }
        : { file: { fileWithUri: url, mimeType: 'text/plain' } };
  const task = objectOf(objectOf(wire).task ?? wire);
  const artifacts = objectsOf(task.artifacts).map((artifact) => ({
    ...artifact,
    parts: [...listOf(artifact.parts), part],
  }));
  return 'task' in wire ? { task: { ...task, artifacts } } : { ...task, artifacts };
}

function expectNoTokenAtOther(probe: ClientProbe, run: ClientRun, when: string): void {
  const leaked = run.requests.filter((request) => request.origin === 'other' && carriesToken(request, run));
  probe.expectEnd(run, when);
  probe.expect(run, leaked.length === 0, `The client sent its token to another origin ${when}.`);
}
