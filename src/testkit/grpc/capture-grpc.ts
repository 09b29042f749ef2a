import { decodeMessage } from '../../dialects/protobuf/decode-message.ts';
import { FrameReader } from '../../dialects/protobuf/frame-reader.ts';
import type { GrpcMethod } from '../../dialects/protobuf/grpc-service.ts';
import { okTrailers } from '../../dialects/protobuf/grpc-status.ts';
import type { HeaderList } from '../../http2/hpack/header-encoder.ts';
import { listFields, type MessageHead } from '../../http2/message-head.ts';
import type { MessageType } from '../../dialects/protobuf/message-type.ts';
import { isStreamingOperation } from '../../protocol/agent.ts';
import type { CallStream } from '../../server/grpc/server-call.ts';
import type { CapturedExchange, ExchangeCapture } from '../journal/exchange-capture.ts';
import type { CapturedHeaders } from '../journal/journal-entry.ts';
import type { Journal } from '../journal/journal.ts';
import { CapturedCallStream } from './captured-call-stream.ts';

/** Starts to capture a call. @returns the stream to use instead of the given one */
export function captureGrpc(
  journal: Journal,
  stream: CallStream,
  { path, fields }: MessageHead,
  method: GrpcMethod | undefined,
): { capture: ExchangeCapture; captured: CallStream } {
  const capture = journal.startCapture({
    method: 'POST',
    url: path,
    headers: { ...fields },
    ...contentOf(method),
    endResponse() {
      if (status === 0)
        captured.sendHead([':status', '200', 'content-type', 'application/grpc+proto'], false);
      captured.end(undefined, listFields({ ...okTrailers }));
    },
  });
  let status = 0;
  const captured = new CapturedCallStream(stream, {
    received: (bytes) => capture.requestReceived(bytes),
    headSent(list) {
      const { ':status': sent, ...headers } = toHeaders(list);
      if (sent !== undefined) status = Number(sent);
      capture.headSent(headers);
    },
    bodySent: (bytes) => capture.bodySent(bytes, 'latin1'),
    closed(isFinished) {
      capture.close(
        status === 0 ? 200 : status,
        isFinished ? 'finished' : capture.isFaulty ? 'aborted' : 'client-disconnected',
      );
    },
  });
  return { capture, captured };
}

function toHeaders(list: HeaderList): CapturedHeaders {
  const headers: Record<string, string> = {};
  for (let i = 0; i + 1 < list.length; i += 2) headers[String(list[i])] = String(list[i + 1]);
  return headers;
}

/** Reads messages as ProtoJSON. */
function contentOf(
  method: GrpcMethod | undefined,
): Pick<CapturedExchange, 'readRequest' | 'readResponse' | 'transportOf'> {
  return {
    readRequest(bytes) {
      const [json] = readMessages(bytes, method?.request);
      return { body: json === undefined ? '' : JSON.stringify(json), json };
    },
    readResponse(bytes, headers) {
      const isGrpc = String(headers['content-type']).startsWith('application/grpc');
      if (!isGrpc) return { body: bytes.toString('utf8'), frames: undefined };
      const frames = readMessages(bytes, method?.response);
      if (method && isStreamingOperation(method.operation)) return { body: '', frames };
      return { body: frames.length === 0 ? '' : JSON.stringify(frames[0]), frames: undefined };
    },
    transportOf: () => 'GRPC',
  };
}

/** Returns the messages that can be read. */
function readMessages(bytes: Buffer, type: MessageType | undefined): unknown[] {
  const messages: unknown[] = [];
  try {
    for (const message of new FrameReader(Number.POSITIVE_INFINITY).push(bytes))
      messages.push(type ? decodeMessage(type, message) : Buffer.from(message).toString('base64'));
  } catch {
    // Bytes that are no message, as faults send them.
  }
  return messages;
}
