import type { StreamEvent } from '../../../protocol/event.ts';
import { mutateResult, isMutableJson, type MutableJson } from '../harness/mutations.ts';
import { defineMutants, type WireMutation } from '../harness/mutant-agent.ts';
import { overrideAgent } from '../harness/override-agent.ts';

/** A card with one more interface. */
const withInterface = (protocolBinding: string, url: string): WireMutation => ({
  response(answer, { path }) {
    if (!path.includes('/.well-known/') || !isMutableJson(answer.json)) return;
    const { supportedInterfaces } = answer.json;
    if (Array.isArray(supportedInterfaces))
      supportedInterfaces.push({ url, protocolBinding, protocolVersion: '1.0' });
  },
});

/** Agents that are wrong in what they give, or in what they call themselves. */
export const outputMutants = defineMutants([
  {
    id: 'output.artifact:in-message',
    violates: 'output.artifact',
    description: 'Results come in the message of the status.',
    versions: ['1.0'],
    wire: () =>
      mutateResult(/GetTask|GET .*\/tasks\//, (task) => {
        const status = task.status as MutableJson | undefined;
        const [artifact] = (task.artifacts as MutableJson[] | undefined) ?? [];
        if (!status || !artifact) return task;
        status.message = { messageId: 'm-1', role: 'ROLE_AGENT', parts: artifact.parts };
        delete task.artifacts;
        return task;
      }),
  },
  {
    id: 'stream.media-type:takes',
    violates: 'stream.media-type',
    description: 'A stream takes every media type although the card names two.',
    versions: ['1.0'],
    agent: (agent) =>
      overrideAgent(agent, {
        stream: (request, call): AsyncIterable<StreamEvent> => {
          const parts = request.message.parts.map(({ mediaType: _type, ...part }) => part);
          return agent.stream({ ...request, message: { ...request.message, parts } }, call);
        },
      }),
  },
  {
    id: 'rpc.no-params:wanted',
    violates: 'rpc.no-params',
    description: 'GetExtendedAgentCard wants params.',
    versions: ['1.0'],
    transports: ['JSONRPC'],
    requiresAuthentication: true,
    definition: { extendedCard: { description: 'More of it' } },
    wire: () => ({
      request({ operation, json }) {
        if (operation !== 'GetExtendedAgentCard' || (isMutableJson(json) && 'params' in json))
          return undefined;
        const error = { code: -32602, message: 'params is missing' };
        const headers = { 'content-type': 'application/json' };
        const id = isMutableJson(json) ? json.id : null;
        return { status: 200, headers, text: '', json: { jsonrpc: '2.0', id, error } };
      },
    }),
  },
  {
    id: 'card.custom-binding:name',
    violates: 'card.custom-binding',
    description: 'A binding of its own has a plain name.',
    versions: ['1.0'],
    wire: () => withInterface('WEBSOCKET', 'wss://agent.example/a2a'),
  },
  {
    id: 'card.custom-binding:path',
    violates: 'card.custom-binding',
    description: 'A binding of its own has a path instead of an address.',
    versions: ['1.0'],
    wire: () => withInterface('https://agent.example/bindings/ws', '/ws'),
  },
]);
