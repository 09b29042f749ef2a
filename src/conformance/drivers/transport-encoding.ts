import { isEventStream } from '../wire/http-exchange.ts';
import { decodeGrpcFrame, decodeGrpcResponse, isGrpcStream } from './grpc/grpc-encoding.ts';
import type { ProtocolDriver } from './protocol-driver.ts';
import { decodeRestFrame, decodeRestResponse } from './rest-encoding.ts';
import { decodeRpcFrame, decodeRpcResponse } from './rpc-encoding.ts';

/** The members of a driver that depend on its transport. */
export type TransportEncoding = Pick<ProtocolDriver, 'encode' | 'decode' | 'decodeFrame' | 'isStream'>;

type TransportDecoding = Omit<TransportEncoding, 'encode'>;

/** Decodes responses of JSON-RPC. */
export const rpcDecoding: TransportDecoding = {
  decode: decodeRpcResponse,
  decodeFrame: decodeRpcFrame,
  isStream: isEventStream,
};

/** Decodes responses of REST. */
export const restDecoding: TransportDecoding = {
  decode: decodeRestResponse,
  decodeFrame: decodeRestFrame,
  isStream: isEventStream,
};

/** Decodes responses of gRPC. */
export const grpcDecoding: TransportDecoding = {
  decode: decodeGrpcResponse,
  decodeFrame: decodeGrpcFrame,
  isStream: isGrpcStream,
};
