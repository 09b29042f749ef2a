/**
 * Protocol versions as dialects (codecs between wire and model), and the negotiation between
 * them.
 *
 * @module
 */
export {
  type CardDialect,
  NegotiationError,
  dialectForCard,
  dialectForMethod,
  dialectForPath,
  dialectForVersion,
  type MethodMatch,
  type MethodContext,
  parseVersionHeader,
  supportedVersions,
} from './negotiation.ts';
export { compatKey } from './compat-metadata.ts';
export {
  type Codec,
  type Dialect,
  type EventReader,
  type EventWriter,
  rpcMethodName,
  type RequestCodec,
  type RequestOf,
  type RestErrorCodec,
  type RestRoute,
  type ResultCodec,
  type ResultOf,
  type RpcError,
  type RpcErrorCodec,
  type StreamOpenContext,
  type UnaryOperation,
} from './dialect.ts';
export {
  lenientMode,
  type TranslationLoss,
  type LossList,
  type DecodeMode,
  strictMode,
} from './translation-loss.ts';
export { decode, type DecodeOptions, type Translatable, type TranslatableName, encode } from './translate.ts';
export { readSseEvents, type ReadSseOptions, type SseReadResult } from './sse/read-sse-events.ts';
export { SseWriter, type SseWriterOptions } from './sse/sse-writer.ts';
export { v0_1 } from './v0_1/index.ts';
export { v0_3 } from './v0_3/index.ts';
export { v0_3_rest } from './v0_3_rest/index.ts';
export { v1_0 } from './v1_0/index.ts';
