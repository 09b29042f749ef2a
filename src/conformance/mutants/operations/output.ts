import type { StreamEvent } from '../../../protocol/event.ts';
import { bendResult, isLoose, type Loose } from '../harness/mutations.ts';
import { defineBroken, type WireFault } from '../harness/mutant-agent.ts';
import { wrap } from '../harness/override-agent.ts';

/** A card with one more interface. */
const withInterface = (protocolBinding: string, url: string): WireFault => ({
  answer(answer, { path }) {
    if (!path.includes('/.well-known/') || !isLoose(answer.json)) return;
    const { supportedInterfaces } = answer.json;
    if (Array.isArray(supportedInterfaces))
      supportedInterfaces.push({ url, protocolBinding, protocolVersion: '1.0' });
  },
});

/** Agents that are wrong in what they give, or in what they call themselves. */
export const brokenOutput = defineBroken([
  {
    id: 'output.artifact:in-message',
    breaks: 'output.artifact',
    what: 'Results come in the message of the status.',
    versions: ['1.0'],
    wire: () =>
      bendResult(/GetTask|GET .*\/tasks\//, (task) => {
        const status = task.status as Loose | undefined;
        const [artifact] = (task.artifacts as Loose[] | undefined) ?? [];
        if (!status || !artifact) return task;
        status.message = { messageId: 'm-1', role: 'ROLE_AGENT', parts: artifact.parts };
        delete task.artifacts;
        return task;
      }),
  },
  {
    id: 'stream.media-type:takes',
    breaks: 'stream.media-type',
    what: 'A stream takes every media type although the card names two.',
    versions: ['1.0'],
    agent: (agent) =>
      wrap(agent, {
        stream: (request, call): AsyncIterable<StreamEvent> => {
          const parts = request.message.parts.map(({ mediaType: _type, ...part }) => part);
          return agent.stream({ ...request, message: { ...request.message, parts } }, call);
        },
      }),
  },
  {
    id: 'rpc.no-params:wanted',
    breaks: 'rpc.no-params',
    what: 'GetExtendedAgentCard wants params.',
    versions: ['1.0'],
    transports: ['JSONRPC'],
    isGuarded: true,
    definition: { extendedCard: { description: 'More of it' } },
    wire: () => ({
      request({ operation, json }) {
        if (operation !== 'GetExtendedAgentCard' || (isLoose(json) && 'params' in json)) return undefined;
        const error = { code: -32602, message: 'params is missing' };
        const headers = { 'content-type': 'application/json' };
        const id = isLoose(json) ? json.id : null;
        return { status: 200, headers, text: '', json: { jsonrpc: '2.0', id, error } };
      },
    }),
  },
  {
    id: 'card.custom-binding:name',
    breaks: 'card.custom-binding',
    what: 'A binding of its own has a plain name.',
    versions: ['1.0'],
    wire: () => withInterface('WEBSOCKET', 'wss://agent.example/a2a'),
  },
  {
    id: 'card.custom-binding:path',
    breaks: 'card.custom-binding',
    what: 'A binding of its own has a path instead of an address.',
    versions: ['1.0'],
    wire: () => withInterface('https://agent.example/bindings/ws', '/ws'),
  },
]);
