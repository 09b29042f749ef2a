import { must, should } from '../../rule-model.ts';
import { defineChecks } from '../../check.ts';
import { InconclusiveError, NotApplicableError } from '../../check-errors.ts';
import { describeResponse } from '../../drivers/describe-response.ts';
import type { DecodedResponse } from '../../drivers/protocol-driver.ts';
import { isJsonObject } from '../../../primitives/json.ts';
import { unsupportedPart } from './send.ts';
import { asText, listOf, objectOf, objectsOf } from '../../drivers/normalized-views.ts';

const standardBindings = ['JSONRPC', 'HTTP+JSON', 'GRPC'];

/** Rules of several sections that do not belong to a single operation. */
export const outputChecks = defineChecks({ category: 'agent-card', versions: ['1.0'] }, [
  {
    id: 'output.artifact',
    ...should('3.7', 'MSG-001', 'MSG-002'),
    category: 'lifecycle',
    sentence: 'The agent returns task results as artifacts, not as messages.',
    remedy: 'Return the result as an artifact; use messages only for communication about the task.',
    async run(probe) {
      const { id } = await probe.completeTask();
      const task = await probe.getTask(id);
      if ((task.artifacts ?? []).length > 0) return;
      const { status } = task.raw as { status?: unknown };
      const message = objectOf(objectOf(status).message);
      const parts = listOf(message.parts);
      probe.expectEmpty(parts, 'A completed task has its result in a message and no artifact');
      throw new InconclusiveError(
        'The completed task has no result. Define a prompt that produces one in a prompts file.',
      );
    },
  },
  {
    id: 'stream.media-type',
    ...must('3.1.2', 'STRM-012'),
    category: 'error-handling',
    sentence:
      'The agent rejects a streaming message with an unsupported media type with ContentTypeNotSupported.',
    remedy: 'Compare the media types of parts with the input modes of the card before the stream is opened.',
    preconditions: ['streaming'],
    async run(probe) {
      const message = { parts: [unsupportedPart(probe)] };
      const subject = 'A part of an unsupported media type';
      await probe.expectStreamError('stream', { message }, 'ContentTypeNotSupported', subject);
    },
  },
  {
    id: 'rpc.no-params',
    ...must('9.4.8', 'RPC-010'),
    sentence: 'The agent accepts GetExtendedAgentCard without params.',
    remedy: 'Treat missing params as an empty object.',
    transports: ['JSONRPC'],
    preconditions: ['extended-card'],
    async run(probe) {
      const call = { jsonrpc: '2.0', id: crypto.randomUUID(), method: 'GetExtendedAgentCard' };
      const request = probe.driver.encode('extendedCard', {});
      if (!request) throw new InconclusiveError('The version has no extended card.');
      const callWith = async (body: object): Promise<DecodedResponse> =>
        probe.driver.decode(await probe.sendRaw({ ...request, body: JSON.stringify(body) }));
      const withParams = await callWith({ ...call, params: {} });
      if (!isJsonObject(withParams.result))
        throw new InconclusiveError(`The extended card is not available: ${describeResponse(withParams)}`);
      const withoutParams = await callWith(call);
      probe.expect(isJsonObject(withoutParams.result), 'The agent returned no extended card without params', {
        expected: 'a card',
        actual: describeResponse(withoutParams),
      });
    },
  },
  {
    id: 'card.custom-binding',
    ...should('5.8', 'JSON-012', 'JSON-013', 'CBIND-022', 'CBIND-023'),
    sentence: 'The card identifies a custom binding by a URI and declares an absolute URL for it.',
    remedy:
      'Set protocolBinding to the URI of the binding specification, and url to the absolute URL of the endpoint.',
    about: 'card',
    async run(probe) {
      const custom = objectsOf(probe.card.supportedInterfaces).filter(
        ({ protocolBinding }) => !standardBindings.includes(asText(protocolBinding) ?? ''),
      );
      if (custom.length === 0) throw new NotApplicableError('The card declares no custom binding.');
      for (const { protocolBinding, url } of custom) {
        const name = asText(protocolBinding) ?? '';
        if (!/^[a-z][\w+.-]*:\S/i.test(name))
          probe.warn(`The binding ${JSON.stringify(name)} is not a URI`, {
            expected: 'JSONRPC, HTTP+JSON, GRPC or a URI',
          });
        if (!/^[a-z][\w+.-]*:\/\/\S/i.test(asText(url) ?? ''))
          probe.warn(`The binding ${JSON.stringify(name)} has no absolute URL`, { actual: url });
      }
    },
  },
]);
