import type { ResultOf, UnaryOperation } from '../../dialects/dialect.ts';
import { dialectForVersion } from '../../dialects/negotiation.ts';
import type { TranslationLoss } from '../../dialects/translation-loss.ts';
import { asJsonObject } from '../../primitives/json.ts';
import type { AgentCard, ProtocolVersion } from '../../protocol/card.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { DecodedContent, TrafficRecord } from '../traffic-record.ts';
import { parseContent } from './parse-content.ts';

/** A recorded message and the same message in another version, both without the envelope of JSON-RPC. */
export interface TranslatedRecord {
  readonly original: unknown;
  readonly translation: unknown;
  readonly losses: readonly TranslationLoss[];
}

/** Translates the message of a record; undefined if it has none, or is in this version already. */
export function translateRecord(
  record: TrafficRecord,
  version: ProtocolVersion,
): TranslatedRecord | undefined {
  const { decoded, text } = record;
  const original = withoutEnvelope(parseContent(text));
  if (!decoded || decoded.model === undefined || original === undefined) return undefined;
  if (decoded.isError || decoded.version === undefined || decoded.version === version) return undefined;
  const losses = [...(decoded.losses ?? [])];
  try {
    const translation = encode(record, decoded, version, losses);
    if (translation === undefined) return undefined;
    // As on the wire: without members that are undefined.
    return { original, translation: JSON.parse(JSON.stringify(translation)) as unknown, losses };
  } catch {
    // The version has no such operation.
    return undefined;
  }
}

function encode(
  { kind }: TrafficRecord,
  { operation, model }: DecodedContent,
  version: ProtocolVersion,
  losses: TranslationLoss[],
): unknown {
  const dialect = dialectForVersion(version);
  if (operation === undefined) return undefined;
  if (operation === 'card') return dialect.card.write(model as AgentCard, losses);
  if (kind === 'request') return dialect.requests[operation].write(model as never, losses);
  if (kind === 'frame') {
    const writer = dialect.eventWriter();
    const events = [model as StreamEvent | readonly StreamEvent[]].flat();
    const wire = events.flatMap((event) => writer.write(event, losses));
    return wire.length === 1 ? wire[0] : wire;
  }
  if (kind !== 'response' || operation === 'stream' || operation === 'subscribe') return undefined;
  return dialect.results[operation].write(model as ResultOf[UnaryOperation] as never, losses);
}

function withoutEnvelope(content: unknown): unknown {
  const envelope = asJsonObject(content);
  return envelope && 'jsonrpc' in envelope ? (envelope['params'] ?? envelope['result']) : content;
}
