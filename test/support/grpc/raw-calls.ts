/** Calls of gRPC made of frames and headers, without a client library. */
import { once } from 'node:events';
import type { ClientHttp2Session } from 'node:http2';
import { decodeMessage } from '../../../src/dialects/protobuf/decode-message.ts';
import { encodeMessage } from '../../../src/dialects/protobuf/encode-message.ts';
import { readGrpcStatus } from '../../../src/dialects/protobuf/grpc-status.ts';
import type { MessageType } from '../../../src/dialects/protobuf/message-type.ts';
import { messages1_0 } from '../../../src/dialects/protobuf/messages-1_0.ts';

/** Path of the methods of 1.0. */
export const service = '/lf.a2a.v1.A2AService/';

/** All that a server sent for a call. */
export interface Answer {
  readonly headers: { readonly [name: string]: unknown };
  readonly trailers: { readonly [name: string]: unknown };
  readonly bytes: Buffer;
}

/** Returns the frame of a message. @param flag - 1 if it is compressed */
export const frame = (message: Uint8Array, flag = 0): Buffer => {
  const prefix = Buffer.alloc(5, flag);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
};

/**
 * Sends a call, and resolves to all that the server sent.
 *
 * @param method - name of a method of 1.0, or the path of any method
 */
export async function call(
  session: ClientHttp2Session,
  method: string,
  body: Uint8Array,
  metadata: { readonly [name: string]: string } = {},
): Promise<Answer> {
  const stream = session.request({
    ':method': 'POST',
    ':path': method.startsWith('/') ? method : `${service}${method}`,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...metadata,
  });
  let headers = {};
  let trailers = {};
  stream.on('response', (each) => (headers = each));
  stream.on('trailers', (each) => (trailers = each));
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  stream.on('error', () => {});
  stream.end(body);
  await once(stream, 'close');
  return { headers, trailers, bytes: Buffer.concat(chunks) };
}

/** Returns the frame of a request to send a text. */
export const send = (text: string) =>
  frame(
    encodeMessage(messages1_0.SendMessageRequest, {
      message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] },
    }),
  );

/** Returns the error of a call that failed. */
export const errorOf = ({ headers, trailers }: Answer) => readGrpcStatus({ ...headers, ...trailers });

/** Returns the messages of a stream. */
export function messagesOf(
  { bytes }: Pick<Answer, 'bytes'>,
  type: MessageType = messages1_0.StreamResponse,
): any[] {
  const messages: unknown[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at + 1);
    messages.push(decodeMessage(type, bytes.subarray(at + 5, at + 5 + length)));
    at += 5 + length;
  }
  return messages;
}
