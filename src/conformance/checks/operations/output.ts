import { defineChecks } from '../../check.ts';
import { RuleViolationError, InconclusiveError, NotApplicableError } from '../../check-errors.ts';
import { describeResponse } from '../../drivers/describe-response.ts';
import type { DecodedResponse } from '../../drivers/protocol-driver.ts';
import { isJsonObject } from '../../../primitives/json.ts';
import { asList, asText } from '../../drivers/normalized-views.ts';

const bindings = ['JSONRPC', 'HTTP+JSON', 'GRPC'];

/** What an agent gives, and what it names itself: rules of several sections that belong to no operation alone. */
export const outputChecks = defineChecks([
  {
    id: 'output.artifact',
    requirements: ['MSG-001', 'MSG-002'],
    section: '3.7',
    level: 'SHOULD',
    category: 'lifecycle',
    sentence: 'What a task leads to is in its artifacts, and not in a message.',
    remedy: 'Put the result into an artifact; messages are for talking about the task.',
    versions: ['1.0'],
    async run(probe) {
      const { id } = await probe.completeTask();
      const task = await probe.getTask(id);
      if ((task.artifacts ?? []).length > 0) return;
      const { status } = task.raw as { status?: unknown };
      const message = isJsonObject(status) && isJsonObject(status.message) ? status.message : {};
      if ((asList(message.parts) ?? []).length > 0)
        throw new RuleViolationError('A completed task has no artifact, and its result is in a message', {
          expected: 'an artifact',
          actual: JSON.stringify(message).slice(0, 200),
        });
      throw new InconclusiveError(
        'The task that was completed has no result at all; name one that has in a scenario file.',
      );
    },
  },
  {
    id: 'stream.media-type',
    requirements: ['STRM-012'],
    section: '3.1.2',
    level: 'MUST',
    category: 'error-handling',
    sentence: 'A part of a media type that the agent does not take opens no stream: ContentTypeNotSupported.',
    remedy: 'Compare the media types of parts with the input modes of the card before you stream.',
    versions: ['1.0'],
    preconditions: ['streaming'],
    async run(probe) {
      const skills = (asList(probe.card.skills) ?? []).filter(isJsonObject);
      const modes = [probe.card, ...skills]
        .flatMap((each) => asList(each.defaultInputModes) ?? asList(each.inputModes) ?? [])
        .filter((mode) => typeof mode === 'string');
      if (
        modes.length === 0 ||
        modes.some((mode) => mode.includes('*') || mode.startsWith('application/octet'))
      )
        throw new NotApplicableError('The card does not say that any type is not taken.');
      const parts = [{ raw: 'AAEC', mediaType: 'application/x-a2a-probe', filename: 'probe.bin' }];
      const { exchange, error } = await probe.openStream('stream', { message: { parts } });
      if (!error)
        throw new RuleViolationError('A part of an unknown type was taken', {
          expected: 'ContentTypeNotSupported',
        });
      probe.assertError({ exchange, error }, 'ContentTypeNotSupported', 'The part');
    },
  },
  {
    id: 'rpc.no-params',
    requirements: ['RPC-010'],
    section: '9.4.8',
    level: 'MUST',
    category: 'agent-card',
    sentence: 'GetExtendedAgentCard needs no params.',
    remedy: 'Take a missing params for an empty one.',
    versions: ['1.0'],
    transports: ['JSONRPC'],
    preconditions: ['extended-card'],
    async run(probe) {
      const call = { jsonrpc: '2.0', id: crypto.randomUUID(), method: 'GetExtendedAgentCard' };
      const asked = probe.driver.encode('extendedCard', {});
      if (!asked) throw new InconclusiveError('There is no such method.');
      const ask = async (body: object): Promise<DecodedResponse> =>
        probe.driver.decode(await probe.sendRaw({ ...asked, body: JSON.stringify(body) }));
      const usual = await ask({ ...call, params: {} });
      if (!isJsonObject(usual.result))
        throw new InconclusiveError(`The extended card could not be had: ${describeResponse(usual)}`);
      const without = await ask(call);
      probe.expect(isJsonObject(without.result), 'Without params there is no extended card', {
        expected: 'a card',
        actual: describeResponse(without),
      });
    },
  },
  {
    id: 'card.custom-binding',
    requirements: ['JSON-012', 'JSON-013', 'CBIND-022', 'CBIND-023'],
    section: '5.8',
    level: 'SHOULD',
    category: 'agent-card',
    sentence: 'A binding of somebody’s own is named by a URI, and has a whole address.',
    remedy:
      'Let protocolBinding be the URI of the document that describes it, and url the address of its endpoint.',
    versions: ['1.0'],
    about: 'card',
    async run(probe) {
      const own = (asList(probe.card.supportedInterfaces) ?? [])
        .filter(isJsonObject)
        .filter(({ protocolBinding }) => !bindings.includes(asText(protocolBinding) ?? ''));
      if (own.length === 0) throw new NotApplicableError('The card has no binding of somebody’s own.');
      for (const { protocolBinding, url } of own) {
        const name = asText(protocolBinding) ?? '';
        if (!/^[a-z][\w+.-]*:\S/i.test(name))
          probe.warn(`The binding ${JSON.stringify(name)} is no URI`, {
            expected: 'JSONRPC, HTTP+JSON, GRPC or a URI',
          });
        if (!/^[a-z][\w+.-]*:\/\/\S/i.test(asText(url) ?? ''))
          probe.warn(`The binding ${JSON.stringify(name)} has no whole address`, { actual: String(url) });
      }
    },
  },
]);
