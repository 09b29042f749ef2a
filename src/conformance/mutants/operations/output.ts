import { type JsonObject, isJsonObject } from '../../../primitives/json.ts';
import { type MutantAgent, type WireMutation, mutant } from '../harness/mutant-agent.ts';
import { isCardRequest, mutateResult } from '../harness/mutations.ts';
import { in1_0 } from '../harness/operation-mutants.ts';
import { wireJsonResponse } from '../harness/wire-responses.ts';

/** Adds an interface to the card. */
const withInterface = (protocolBinding: string, url: string): WireMutation => ({
  response(response, request) {
    if (!isCardRequest(request) || !isJsonObject(response.json)) return;
    const { supportedInterfaces } = response.json;
    if (Array.isArray(supportedInterfaces))
      supportedInterfaces.push({ url, protocolBinding, protocolVersion: '1.0' });
  },
});

/** Mutants of task output and custom bindings. */
export const outputMutants: readonly MutantAgent[] = [
  mutant('output.artifact:in-message', 'Results are returned in the status message.', {
    wire: () =>
      mutateResult(/^GetTask|^GET .*\/tasks\//, (task) => {
        const status = task.status as JsonObject | undefined;
        const [artifact] = (task.artifacts as JsonObject[] | undefined) ?? [];
        if (!status || !artifact) return task;
        status.message = { messageId: 'm-1', role: 'ROLE_AGENT', parts: artifact.parts };
        delete task.artifacts;
        return task;
      }),
  }),
  in1_0('stream.media-type:takes', 'A stream accepts media types that the card does not list.', (agent) => ({
    stream: (request, call) => {
      const parts = request.message.parts.map(({ mediaType: _type, ...part }) => part);
      return agent.stream({ ...request, message: { ...request.message, parts } }, call);
    },
  })),
  mutant('rpc.no-params:wanted', 'GetExtendedAgentCard requires params.', {
    transports: ['JSONRPC'],
    requiresAuthentication: true,
    definition: { extendedCard: { description: 'More of it' } },
    wire: () => ({
      request({ operation, json }) {
        if (operation !== 'GetExtendedAgentCard' || (isJsonObject(json) && 'params' in json))
          return undefined;
        const id = isJsonObject(json) ? json.id : null;
        return wireJsonResponse(200, {
          jsonrpc: '2.0',
          id,
          error: { code: -32602, message: 'params is missing' },
        });
      },
    }),
  }),
  mutant('card.custom-binding:name', 'A custom binding is not named by a URI.', {
    wire: () => withInterface('WEBSOCKET', 'wss://agent.example/a2a'),
  }),
  mutant('card.custom-binding:path', 'The URL of a custom binding is a path.', {
    wire: () => withInterface('https://agent.example/bindings/ws', '/ws'),
  }),
];
