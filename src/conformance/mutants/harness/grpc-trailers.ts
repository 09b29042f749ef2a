import { type JsonObject, isJsonObject } from '../../../primitives/json.ts';
import { encodeProtobuf } from '../../wire/grpc/encode-message.ts';
import { grpcStatusNames, statusSchema } from '../../wire/grpc/grpc-status.ts';

/** Writes an error in the format of REST, with the code of gRPC or the name of its status, as trailers. */
export function statusTrailers({ code, status, message, details }: JsonObject): Record<string, string> {
  const named = grpcStatusNames.findIndex((name) => name === status);
  const isCode = typeof code === 'number' && code > 0 && code < grpcStatusNames.length;
  const number = isCode ? code : Math.max(named, 2);
  const list = Array.isArray(details) ? (details as unknown[]).filter(isJsonObject) : [];
  const encoded = list.map(({ '@type': typeUrl, ...detail }) => {
    const type = String(typeUrl).split('.').at(-1) ?? '';
    return { typeUrl, value: Buffer.from(encodeProtobuf(statusSchema, type, detail)).toString('base64') };
  });
  const bytes = encodeProtobuf(statusSchema, 'Status', { code: number, message, details: encoded });
  return {
    'grpc-status': String(number),
    'grpc-message': encodeURIComponent(typeof message === 'string' ? message : ''),
    ...(list.length > 0 ? { 'grpc-status-details-bin': Buffer.from(bytes).toString('base64') } : {}),
  };
}
