import { FrameReader } from '../../dialects/protobuf/frame-reader.ts';
import type { GrpcMethod, GrpcService } from '../../dialects/protobuf/grpc-service.ts';
import { describeBytes, messageText } from './message-text.ts';
import type { MessageType } from '../../dialects/protobuf/message-type.ts';
import type { A2AError } from '../../protocol/errors.ts';
import type { HttpServerRequest, HttpServerResponse } from '../http/http-message.ts';
import { observeTraffic, type TrafficListener, type TrafficObserver } from '../telemetry/traffic-observer.ts';

/** Observes the response to a call. */
export interface GrpcCallObserver {
  responded(response: HttpServerResponse): HttpServerResponse;
  failed(error: A2AError): void;
}

/**
 * Observes a call like a request of REST: messages are observed as ProtoJSON, events as server-sent events and errors as
 * errors of REST. Without credentials of the client.
 */
export function observeCall(
  observer: TrafficObserver,
  request: HttpServerRequest,
  { service, method }: { service: GrpcService; method: GrpcMethod },
): GrpcCallObserver {
  const observe = observeTraffic((observed) => {
    const listener = observer(withBody(observed, toJson(method.request, observed.body)));
    return listener && jsonListener(listener, method.response);
  }, request);
  return {
    responded: observe,
    failed(error) {
      const { status, body } = service.dialect.restError.write(error);
      observe({ status, headers: ['Content-Type', 'application/json'], body: JSON.stringify(body) });
    },
  };
}

/** Returns a request with another body. Its members may be getters, so that they are listed. */
function withBody(request: HttpServerRequest, body: string): HttpServerRequest {
  const { method, path, query, headers, isSecure, authentication, remoteAddress, clientAddress } = request;
  return {
    method,
    path,
    query,
    headers,
    body,
    isSecure,
    ...(authentication && { authentication }),
    ...(remoteAddress !== undefined && { remoteAddress }),
    clientAddress,
    onDisconnect: (callback) => request.onDisconnect(callback),
  };
}

function jsonListener(listener: TrafficListener, type: MessageType): TrafficListener {
  return {
    responded(response) {
      const { body, status } = response;
      // Frames are latin1, errors are JSON.
      const isFrame = typeof body === 'string' && status < 400;
      listener.responded(isFrame ? { ...response, body: toJson(type, body) } : response);
    },
    frame: (text) => listener.frame(`data: ${toJson(type, text)}`),
    ended: (end) => listener.ended(end),
  };
}

/** Returns the message of a frame, which is text in which each character is a byte, or its length if it is malformed. */
function toJson(type: MessageType, frame: string): string {
  try {
    const [message = new Uint8Array()] = new FrameReader(Infinity).push(Buffer.from(frame, 'latin1'));
    return messageText(type, message);
  } catch {
    return describeBytes(frame.length);
  }
}
