// Bare node:http2 over gRPC: encodes the request, counts the frames of the response and decodes nothing.
import { call, open, openCall, request } from '../grpc.mjs';

export async function create(url) {
  const session = await open(url);
  return {
    send: (text) => call(session, 'SendMessage', request(text)),
    stream: (text) => frames(openCall(session, 'SendStreamingMessage', request(text))),
  };
}

async function* frames(stream) {
  let rest = Buffer.alloc(0);
  for await (const chunk of stream) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (rest.length >= 5 && rest.length >= 5 + rest.readUInt32BE(1)) {
      const end = 5 + rest.readUInt32BE(1);
      yield rest.subarray(5, end);
      rest = rest.subarray(end);
    }
  }
}
