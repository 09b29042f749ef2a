import type { MessageHead } from '../../http2/message-head.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { GrpcConnection } from '../../server/grpc/grpc-connection.ts';
import { GrpcServer } from '../../server/grpc/grpc-server.ts';
import { findServedMethod } from '../../server/grpc/served-method.ts';
import type { CallStream } from '../../server/grpc/server-call.ts';
import type { AgentHttpHandler } from '../../server/http/agent-http-handler.ts';
import { captureIdHeader } from '../agent/call-capture.ts';
import type { FaultContext } from '../faults/fault-context.ts';
import type { InterceptedResponse, RequestInterceptor } from '../http/request-interceptor.ts';
import type { Journal } from '../journal/journal.ts';
import { captureGrpc } from './capture-grpc.ts';
import { FaultyCallStream } from './faulty-call-stream.ts';
import { type GrpcReplacement, httpReplacement, statusReplacement } from './grpc-replacement.ts';

/** Collaborators of {@link MockGrpcServer}. */
export interface MockGrpcContext {
  readonly handler: () => AgentHttpHandler;
  readonly journal: Journal;
  readonly interceptor: RequestInterceptor;
  readonly faultContext: FaultContext;
}

/** Serves a test agent over gRPC, with journal, request interceptor and fault injection. */
export class MockGrpcServer extends GrpcServer {
  readonly #context: MockGrpcContext;

  constructor(
    context: MockGrpcContext,
    ...[settings, options]: [
      ConstructorParameters<typeof GrpcServer>[1],
      ConstructorParameters<typeof GrpcServer>[2],
    ]
  ) {
    super({ handlerFor: context.handler, agentFor: undefined, isReady: () => true }, settings, options);
    this.#context = context;
  }

  protected override onCall(connection: GrpcConnection, stream: CallStream, head: MessageHead): void {
    const { handler, journal, interceptor, faultContext } = this.#context;
    // Health and reflection are services of the server, not of the agent.
    if (head.path.startsWith('/grpc.')) {
      super.onCall(connection, stream, head);
      return;
    }
    const method = findServedMethod(handler(), head.path, false)?.method;
    const { capture, captured } = captureGrpc(journal, stream, head, method);
    const intercepted = interceptor.intercept(head.fields);
    if (intercepted) {
      capture.setResponseOrigin(intercepted.origin);
      respond(captured, toReplacement(intercepted));
      return;
    }
    const faulty = new FaultyCallStream(captured, () => (capture.faults ??= []), {
      ...faultContext,
      method,
      disconnect: () => connection.destroy(),
    });
    const fields = { ...head.fields, [captureIdHeader]: String(capture.id) };
    super.onCall(connection, faulty, { ...head, fields });
  }
}

function toReplacement({ origin, status, headers, body }: InterceptedResponse): GrpcReplacement {
  if (origin === 'http-error') return httpReplacement(status, Object.entries(headers).flat(), body);
  return statusReplacement(new A2AError('UNAUTHENTICATED'));
}

function respond(stream: CallStream, { head, body }: GrpcReplacement): void {
  stream.sendHead(head, body === '');
  if (body !== '') stream.end(Buffer.from(body));
  stream.discard();
}
