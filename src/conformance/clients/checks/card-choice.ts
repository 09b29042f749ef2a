import { NotApplicableError } from '../../check-errors.ts';
import { checkedTransports, must, should } from '../../rule-model.ts';
import { clientVersions, type ClientCheck, contextVersions, defineClientChecks } from '../client-check.ts';
import type { ClientProbe } from '../client-probe.ts';
import { callsOf, isSuccess, messagesOf } from '../client-run.ts';

/** The name of a binding that no client knows. */
const unknownBinding = 'urn:example:unknown-binding';

/** Offers all transports that the client supports, in both orders. */
async function expectFirstInterface(probe: ClientProbe): Promise<void> {
  const { version } = probe.variant;
  const transports = checkedTransports.filter((transport) =>
    probe.offered.some((each) => each.version === version && each.transport === transport),
  );
  if (transports.length < 2)
    throw new NotApplicableError(`The client supports only one transport of ${version}.`);
  for (const order of [transports, transports.toReversed()]) {
    const run = await probe.run('send', {
      interfaces: ({ interfaces }) => order.map((transport) => ({ transport, url: interfaces[transport] })),
    });
    const [used] = messagesOf(run);
    probe.expectEqual(
      run,
      used?.call.transport,
      order[0],
      'The client did not use the first interface of the card.',
    );
  }
}

/** Checks which card and which of its interfaces a client uses. */
export const cardChoiceChecks: readonly ClientCheck[] = defineClientChecks(
  { category: 'agent-card', versions: clientVersions, about: 'card' },
  [
    {
      id: 'client-card.well-known',
      ...must('8.2', 'CARD-001'),
      sentence: 'A client that knows the domain of an agent fetches the card at its well-known path.',
      remedy: 'Fetch /.well-known/agent-card.json, and /.well-known/agent.json for versions before 0.3.',
      async run(probe) {
        const run = probe.require('send');
        const [first] = run.requests;
        probe.expect(
          run,
          run.requests.some(({ isCard }) => isCard),
          'The client fetched no card.',
          {
            expected: 'GET /.well-known/agent-card.json',
            actual: first && `${first.method} ${first.target}`,
          },
        );
      },
    },
    {
      id: 'client-card.version-header',
      ...should('3.6.1', 'VER-003'),
      versions: ['1.0'],
      sentence: 'A client sends A2A-Version with every request, also with that for the card.',
      remedy:
        'Send A2A-Version with the request for the card: agents of several versions choose the card by it.',
      async run(probe) {
        const run = probe.require('send');
        const card = run.requests.find(({ isCard }) => isCard);
        if (!card) throw new NotApplicableError('The client fetched no card.');
        probe.expect(run, card.headers['a2a-version'], 'The request for the card has no A2A-Version.');
      },
    },
    {
      id: 'client-card.path-0.2',
      ...must('0.2, 5.3', '0.2/well-known'),
      versions: ['0.3'],
      sentence:
        'A client that supports 0.2 finds a card at /.well-known/agent.json that has no protocolVersion.',
      remedy: 'Use the url of such a card with JSON-RPC.',
      async run(probe) {
        const run = await probe.run('send', {
          cardPath: '/.well-known/agent.json',
          card: (
            {
              protocolVersion: _version,
              preferredTransport: _preferred,
              additionalInterfaces: _all,
              ...card
            },
            { interfaces },
          ) => ({
            ...card,
            url: interfaces.JSONRPC,
          }),
        });
        if (probe.variant.transport !== 'JSONRPC' || messagesOf(run).length === 0)
          throw new NotApplicableError('The client does not support cards of 0.2.');
        probe.expectSuccess(run, 'send', 'the card has the form of 0.2');
      },
    },
    {
      id: 'client-card.unknown-binding',
      ...must('8.3.2', 'CARD-006'),
      versions: contextVersions,
      sentence:
        'A client uses the first interface that it supports and passes over those that it does not know.',
      remedy: 'Skip interfaces with an unknown binding or version instead of failing.',
      async run(probe) {
        const { version, transport } = probe.variant;
        const run = await probe.run('send', {
          card: (card, { interfaces, closed }) =>
            version === '1.0'
              ? {
                  ...card,
                  supportedInterfaces: [
                    { url: closed, protocolBinding: unknownBinding, protocolVersion: '1.0' },
                    { url: closed, protocolBinding: transport, protocolVersion: '99.0' },
                    { url: interfaces[transport], protocolBinding: transport, protocolVersion: '1.0' },
                  ],
                }
              : {
                  ...card,
                  url: closed,
                  preferredTransport: unknownBinding,
                  additionalInterfaces: [
                    { url: closed, transport: unknownBinding },
                    { url: interfaces[transport], transport },
                  ],
                },
        });
        probe.expect(
          run,
          messagesOf(run).length > 0,
          'The client sent no message to the interface that it supports.',
          {
            expected: `a message over ${transport}`,
          },
        );
        probe.expectSuccess(run, 'send', 'the first interface has an unknown binding');
      },
    },
    {
      id: 'client-card.supported-interfaces',
      ...must('8.3.2', 'CARD-006'),
      versions: ['1.0'],
      sentence: 'A client uses supportedInterfaces of a card that also has the members of older versions.',
      remedy: 'Look for supportedInterfaces before url and additionalInterfaces.',
      async run(probe) {
        const run = await probe.run('send', {
          card: (card, { closed }) => ({
            ...card,
            protocolVersion: '0.3.0',
            url: closed,
            preferredTransport: 'JSONRPC',
            additionalInterfaces: [{ url: closed, transport: 'JSONRPC' }],
          }),
        });
        const [used] = messagesOf(run);
        probe.expect(run, used, 'The client did not use supportedInterfaces of the card.');
        probe.expectSuccess(run, 'send', 'the card also has the members of 0.3');
      },
    },
    {
      id: 'client-card.order',
      ...must('8.3.2', 'CARD-006', 'CARD-007'),
      versions: ['1.0'],
      sentence: 'Among the interfaces that it supports, a client uses the one that the card lists first.',
      remedy: 'Walk through the interfaces in the order of the card and take the first that is supported.',
      run: expectFirstInterface,
    },
    {
      id: 'client-card.preferred',
      ...should('5.6.3', '0.3/5.6.3'),
      versions: ['0.3'],
      sentence: 'A client that supports the preferred transport of the card uses it.',
      remedy: 'Use url with preferredTransport if the client supports it.',
      run: expectFirstInterface,
    },
    {
      id: 'client-card.fallback',
      ...should('5.2', 'BIND-007', '0.3/5.6.3'),
      versions: contextVersions,
      sentence: 'A client uses another interface of the card if the preferred one cannot be reached.',
      remedy: 'If the connection is refused, try the next interface of the card that is supported.',
      async run(probe) {
        const { version, transport } = probe.variant;
        const other = probe.offered.find((each) => each.version === version && each.transport !== transport);
        if (!other) throw new NotApplicableError(`The client supports only one transport of ${version}.`);
        const run = await probe.run('send', {
          interfaces: ({ interfaces, closed }) => [
            { transport, url: transport === 'GRPC' ? closed.replace('http://', '') : closed },
            { transport: other.transport, url: interfaces[other.transport] },
          ],
        });
        probe.expectSuccess(run, 'send', 'the connection to the preferred interface is refused');
      },
    },
  ],
);

const tenant = 'tenant-7';

/** Checks how a client uses what the card declares, in every transport. */
export const cardUseChecks: readonly ClientCheck[] = defineClientChecks(
  { category: 'agent-card', versions: clientVersions },
  [
    {
      id: 'client-card.interface-url',
      ...must('8.3.2', 'CARD-008', '0.3/5.6.3'),
      sentence: 'A client sends requests to the URL that the card declares for the transport.',
      remedy: 'Use the URL of the interface, not that of the card.',
      async run(probe) {
        const run = probe.require('send');
        const wrong = messagesOf(run).filter(({ response }) => response.status === 404);
        probe.expect(
          run,
          wrong.length === 0,
          'The client sent a message to another path than that of the interface.',
          {
            actual: wrong.map(({ target }) => target),
          },
        );
      },
    },
    {
      id: 'client-card.tenant',
      ...must('8.3.2', 'CARD-009', 'CARD-010'),
      versions: ['1.0'],
      sentence:
        'A client sends the tenant of the interface with every request, and none if the interface has none.',
      remedy:
        'Copy the tenant of the chosen interface into each request: as a member, or as the first segment of a REST path.',
      async run(probe) {
        const { transport } = probe.variant;
        const run = await probe.run('send', {
          interfaces: ({ interfaces }) => [{ transport, url: interfaces[transport], tenant }],
        });
        const [first] = messagesOf(run);
        probe.expect(run, first, 'The client sent no message.');
        probe.expectEqual(
          run,
          first?.call.tenant,
          tenant,
          'The message does not have the tenant of the interface.',
        );
        const plain = probe.require('send');
        const [without] = messagesOf(plain);
        probe.expect(
          plain,
          (without?.call.tenant ?? '') === '',
          'The client sent a tenant that the card does not have.',
          {
            actual: without?.call.tenant,
          },
        );
      },
    },
    {
      id: 'client-card.unknown-members',
      ...should('5.7', 'JSON-011'),
      sentence: 'A client ignores members of a card that it does not know.',
      remedy: 'Do not reject cards with additional members.',
      async run(probe) {
        const unknown = { xFuture: { nested: [1, null, 'x'] } };
        const run = await probe.run('send', {
          card: (card) => ({
            ...card,
            ...unknown,
            capabilities: { ...(card.capabilities as object), ...unknown },
            skills: (card.skills as object[]).map((skill) => ({ ...skill, ...unknown })),
          }),
        });
        probe.expectSuccess(run, 'send', 'the card has unknown members');
      },
    },
    {
      id: 'client-card.capability',
      ...should('3.3.4', 'CAP-007'),
      needs: 'stream',
      sentence: 'A client checks the card before it uses an optional feature.',
      remedy: 'If the card does not declare streaming, send the message without it or report an error.',
      async run(probe) {
        const run = await probe.run('stream', { features: { streaming: false } });
        probe.expect(
          run,
          callsOf(run, 'stream').length === 0,
          'The client opened a stream that the card does not declare.',
        );
      },
    },
    {
      id: 'client-card.required-extension',
      ...must('3.3.4', 'CAP-006'),
      versions: ['1.0'],
      sentence: 'A client declares a required extension of the card, or reports that it does not support it.',
      remedy: 'Compare the required extensions with the supported ones; report an error if one is missing.',
      async run(probe) {
        const uri = 'urn:example:required-extension';
        const message = 'The extension is required';
        const run = await probe.run('send', {
          features: { requiredExtension: uri },
          reply: (call, { headers }) =>
            call.message && !(headers['a2a-extensions'] ?? '').split(',').some((each) => each.trim() === uri)
              ? { kind: 'error', error: 'ExtensionSupportRequired', message }
              : undefined,
        });
        const declares = messagesOf(run).some(({ headers }) => headers['a2a-extensions']?.includes(uri));
        if (declares && isSuccess(run)) return;
        probe.expectVisibleError(
          run,
          'the card requires an extension that the client did not declare',
          message,
        );
      },
    },
  ],
);
