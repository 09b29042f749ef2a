import type { HttpRequest, HttpResponse } from '../../client/http/http-client.ts';
import { ByteBudget } from '../../server/limits/byte-budget.ts';
import { GrpcCallRecorder } from './grpc-call-recorder.ts';
import type { ExchangeParticipants } from './http-exchange-recorder.ts';
import type { ClientExchange } from './tap-http-client.ts';
import { maxDecodedLength, type TrafficRecorder } from './traffic-recorder.ts';

const statusNames = ['grpc-status', 'grpc-message', 'grpc-status-details-bin'];

/** Records a call of gRPC that a client makes. */
export function tapGrpcCall(
  recorder: TrafficRecorder,
  participants: ExchangeParticipants,
  { method, origin, path, headers, body }: HttpRequest,
): ClientExchange {
  // Longer messages are not recorded.
  const budget = new ByteBudget({ total: maxDecodedLength * 4, perClient: maxDecodedLength * 4 });
  const call = new GrpcCallRecorder(recorder, {
    participants,
    head: { method, url: origin + path, headers },
    path,
    reservations: [budget.open('client'), budget.open('agent')],
  });
  if (typeof body === 'object') call.requestBytes(body);
  return {
    response: (status, received) => call.response(status, received),
    chunk: (bytes) => call.responseBytes(bytes),
    end(end, response) {
      if (end === 'complete' && response) call.end(statusOf(response));
      else call.interrupted(end === 'complete' ? 'The client disconnected' : end.reason);
    },
  };
}

/** Returns the status of a call: trailers, or headers if there is nothing else. */
function statusOf(response: HttpResponse): Record<string, string | undefined> {
  return Object.fromEntries(
    statusNames.map((name) => [name, response.trailer?.(name) ?? response.header(name)]),
  );
}
