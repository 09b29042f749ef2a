import { parseJsonOrUndefined } from '../../primitives/json.ts';
import { defineInvariants, type Observation } from '../observation/observation.ts';
import { isJsonObject } from '../drivers/normalized-views.ts';
import { isEventStream } from '../wire/http-exchange.ts';

/** What every JSON-RPC envelope must be, whatever is in it. */
export const envelopeInvariants = defineInvariants([
  {
    id: 'rpc.envelope',
    requirements: ['RPC-007'],
    section: '9.3',
    level: 'MUST',
    category: 'error-handling',
    sentence:
      'An answer of JSON-RPC has jsonrpc "2.0", the id of its request, and either a result or an error.',
    remedy:
      'Copy the id of the request as it is (a number stays a number), and never send result and error together.',
    versions: ['1.0', '0.3', '0.1'],
    transports: ['JSONRPC'],
    check(observation) {
      if (observation.kind === 'event') return faultsOf(observation, observation.frame.data ?? '');
      if (observation.kind !== 'response' || observation.exchange.status !== 200) return undefined;
      if (isEventStream(observation.exchange)) return undefined;
      return faultsOf(observation, observation.exchange.body);
    },
  },
]);

function faultsOf({ driver: speech, exchange }: Observation, text: string): string[] {
  const answer = parseJsonOrUndefined(text);
  if (!isJsonObject(answer)) return [`The answer is no JSON object: ${text.slice(0, 80)}`];
  const faults: string[] = [];
  if (answer.jsonrpc !== '2.0') faults.push(`jsonrpc is ${JSON.stringify(answer.jsonrpc)} instead of "2.0"`);
  const request = parseJsonOrUndefined(exchange.requestBody ?? '');
  if (isJsonObject(request) && 'id' in request && answer.id !== request.id)
    faults.push(`The id is ${JSON.stringify(answer.id)}; the request had ${JSON.stringify(request.id)}`);
  const hasError = answer.error !== undefined && answer.error !== null;
  if (hasError && 'result' in answer && answer.result !== null)
    faults.push('There are both a result and an error');
  // The first servers wrote null for everything that was not there.
  if (speech.version !== '0.1' && answer.error === null) faults.push('There is an error, and it is null');
  return faults;
}
