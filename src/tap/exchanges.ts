import type { TrafficRecord } from './traffic-record.ts';

/** A recorded request and everything that followed it. */
export type TrafficExchange = readonly [request: TrafficRecord, ...answers: TrafficRecord[]];

/** Groups records by exchange, in the order of the requests. Exchanges without a request are left out. */
export function groupExchanges(records: readonly TrafficRecord[]): TrafficExchange[] {
  const byExchange = new Map<string, TrafficRecord[]>();
  for (const each of records) {
    const exchange = byExchange.get(each.exchangeId);
    if (exchange) exchange.push(each);
    else byExchange.set(each.exchangeId, [each]);
  }
  return [...byExchange.values()].filter(isExchange);
}

/** Returns the exchanges of clients, without those that an intermediary had on their behalf. */
export function findClientExchanges(exchanges: readonly TrafficExchange[]): TrafficExchange[] {
  const receivers = new Set(exchanges.map(([request]) => request.to));
  const ofClients = exchanges.filter(([request]) => !receivers.has(request.from));
  return ofClients.length > 0 ? ofClients : [...exchanges];
}

function isExchange(records: TrafficRecord[]): records is [TrafficRecord, ...TrafficRecord[]] {
  return records[0]?.kind === 'request' || records[0]?.kind === 'message';
}
