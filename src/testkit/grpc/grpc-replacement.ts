import { writeGrpcStatus } from '../../dialects/protobuf/grpc-status.ts';
import type { HeaderList } from '../../http2/hpack/header-encoder.ts';
import { connectionHeaders, listFields } from '../../http2/message-head.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { Fault } from '../faults/fault.ts';
import { replacementResponseFor } from '../faults/replacement-response.ts';

/** Response that replaces that of a call. */
export interface GrpcReplacement {
  readonly head: HeaderList;
  /** Empty if the head is the whole response. */
  readonly body: string;
}

/** Returns the response of faults that replace the whole response, and of those that do not exist over gRPC. */
export function replacementFor(fault: Fault): GrpcReplacement | undefined {
  switch (fault.kind) {
    case 'http': {
      const response = replacementResponseFor(fault);
      return response && httpReplacement(response.status, response.headers, response.body);
    }
    case 'unauthorized':
      return statusReplacement(new A2AError('UNAUTHENTICATED'), {
        'www-authenticate': fault.challenge ?? 'Bearer',
      });
    case 'rate-limit':
      return statusReplacement(new A2AError('RESOURCE_EXHAUSTED'), {
        'retry-after': String(fault.retryAfter),
      });
    case 'redirect':
      return unsupported(fault.kind, 'There are no redirects; use "http" for the response of a proxy.');
    case 'heartbeats':
      return unsupported(fault.kind, 'There are no heartbeats; use "stall".');
    default:
      return undefined;
  }
}

/** Returns a response of HTTP that is not one of gRPC, such as that of a proxy. @param headers - name, value, … */
export function httpReplacement(status: number, headers: readonly string[], body: string): GrpcReplacement {
  const fields: Record<string, string> = {};
  for (let i = 0; i + 1 < headers.length; i += 2)
    fields[String(headers[i]).toLowerCase()] = String(headers[i + 1]);
  for (const name of connectionHeaders) delete fields[name];
  delete fields['content-length'];
  return { head: [':status', String(status), ...listFields(fields)], body };
}

/** Returns the response of a call that failed. */
export function statusReplacement(
  error: A2AError,
  metadata: { readonly [name: string]: string } = {},
): GrpcReplacement {
  const head = listFields({
    ':status': '200',
    'content-type': 'application/grpc+proto',
    ...metadata,
    ...writeGrpcStatus(error),
  });
  return { head, body: '' };
}

function unsupported(kind: string, hint: string): GrpcReplacement {
  return statusReplacement(
    new A2AError('INTERNAL_ERROR', `The fault "${kind}" does not exist over gRPC. ${hint}`),
  );
}
