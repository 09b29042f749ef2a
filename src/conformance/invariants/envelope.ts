import { must } from '../rule-model.ts';
import { isJsonObject, parseJsonOrUndefined } from '../../primitives/json.ts';
import { defineInvariants, type Observation } from '../observation/observation.ts';
import { isEventStream } from '../wire/http-exchange.ts';

/** Rules of the JSON-RPC envelope. */
export const envelopeInvariants = defineInvariants(
  { category: 'error-handling', versions: ['1.0', '0.3', '0.1'] },
  [
    {
      id: 'rpc.envelope',
      ...must('9.3', 'RPC-007'),
      sentence:
        'The agent sends JSON-RPC responses with jsonrpc "2.0", the id of the request, and either a result or an error.',
      remedy:
        'Copy the id of the request without changing its type, and never send result and error together.',
      transports: ['JSONRPC'],
      check(observation) {
        if (observation.kind === 'event') return checkEnvelope(observation, observation.frame.data ?? '');
        if (observation.kind !== 'response' || observation.exchange.status !== 200) return undefined;
        if (isEventStream(observation.exchange)) return undefined;
        return checkEnvelope(observation, observation.exchange.body);
      },
    },
  ],
);

function checkEnvelope({ driver: speech, exchange }: Observation, text: string): string[] {
  const response = parseJsonOrUndefined(text);
  if (!isJsonObject(response)) return [`The response is not a JSON object: ${text.slice(0, 80)}`];
  const messages: string[] = [];
  if (response.jsonrpc !== '2.0')
    messages.push(`jsonrpc is ${JSON.stringify(response.jsonrpc)} instead of "2.0"`);
  const request = parseJsonOrUndefined(exchange.requestBody ?? '');
  if (isJsonObject(request) && 'id' in request && response.id !== request.id)
    messages.push(`The id is ${JSON.stringify(response.id)} instead of ${JSON.stringify(request.id)}`);
  const hasError = response.error !== undefined && response.error !== null;
  if (hasError && 'result' in response && response.result !== null)
    messages.push('The response has both a result and an error');
  // Servers of 0.1 write null for missing members.
  if (speech.version !== '0.1' && response.error === null) messages.push('The error is null');
  return messages;
}
