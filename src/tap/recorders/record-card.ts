import { HttpExchangeDecoder } from '../decode/http-decoder.ts';
import { addApiKeys, type ExchangeParticipants, HttpExchangeRecorder } from './http-exchange-recorder.ts';
import type { TrafficRecorder } from './traffic-recorder.ts';

/** A card that the tap itself has fetched. */
export interface PrefetchedCard {
  readonly url: string;
  readonly body: Buffer;
}

/** Redacts the credentials that a card names, which clients may send without having fetched it. */
export function addApiKeysOfCard({ redactor }: TrafficRecorder, { url, body }: PrefetchedCard): void {
  const decoder = new HttpExchangeDecoder({ method: 'GET', url, headers: {} });
  decoder.response({ status: 200, isEventStream: false, isComplete: true }, body.toString('utf8'));
  addApiKeys(redactor, decoder.keys);
}

/** Records a card like the answer to a request of a client. */
export function recordCard(
  recorder: TrafficRecorder,
  participants: ExchangeParticipants,
  { url, body }: PrefetchedCard,
): void {
  const exchange = new HttpExchangeRecorder(recorder, participants, { method: 'GET', url, headers: {} });
  exchange.response(200, { 'content-type': 'application/json' }, body.toString('utf8'));
  exchange.end('complete');
}
