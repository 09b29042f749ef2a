import { must, should } from '../rule-model.ts';
import { errorMismatch, type ProtocolErrorName, protocolErrors } from '../drivers/error-response.ts';
import { eventState } from '../drivers/normalized-views.ts';
import { defineInvariants, type Invariant, type Observation } from '../observation/observation.ts';
import { terminalStates } from '../observation/task-tracker.ts';
import type { WireProblem } from '../wire/grpc/decode-message.ts';
import type { GrpcFacts } from '../wire/grpc/grpc-facts.ts';

/** Evaluates a rule on every call that the agent ended. */
function onCall(
  check: (grpc: GrpcFacts, observation: Observation) => readonly string[] | undefined,
): Invariant['check'] {
  return (observation) => {
    const { kind, exchange } = observation;
    if ((kind !== 'response' && kind !== 'stream') || !exchange.grpc) return undefined;
    // A proxy in front of the agent may answer calls without credentials.
    if (exchange.status === 401 || exchange.status === 403 || exchange.status === 0) return undefined;
    return exchange.end === 'complete' || exchange.end === 'truncated'
      ? check(exchange.grpc, observation)
      : undefined;
  };
}

/** Evaluates a rule on every call that ended with an error. */
function onError(
  check: (grpc: GrpcFacts, observation: Observation) => readonly string[],
): Invariant['check'] {
  return onCall((grpc, observation) => {
    const { name } = grpc.status;
    return name === undefined || name === 'OK' ? undefined : check(grpc, observation);
  });
}

/** Evaluates a rule on the problems of all messages of a call. */
function onMessages(...kinds: readonly WireProblem['kind'][]): Invariant['check'] {
  return ({ kind, exchange: { grpc } }) => {
    if ((kind !== 'response' && kind !== 'stream') || !grpc || grpc.messages.length === 0) return undefined;
    const problems = grpc.messages.flatMap((each) => each.problems);
    return problems.filter((each) => kinds.includes(each.kind)).map(({ message }) => message);
  };
}

const errorNames = new Map(
  Object.entries(protocolErrors).map(([name, { reason }]) => [reason as string | undefined, name]),
);

/** Rules of calls over gRPC. */
export const grpcInvariants = defineInvariants({ category: 'error-handling', versions: ['1.0', '0.3'] }, [
  {
    id: 'grpc.status',
    ...must('10.6', 'GRPC-001', '0.3/grpc-status'),
    sentence: 'The agent ends every call with HTTP status 200 and one grpc-status in its trailers.',
    remedy: 'Send grpc-status from 0 to 16 as a trailer; a call without messages may send it as a header.',
    transports: ['GRPC'],
    check: onCall(({ trailers, status, resetCode, messages }, { exchange }) => {
      if (resetCode !== 0) return [`The stream was reset with the code ${resetCode}`];
      if (exchange.status !== 200) return [`The HTTP status is ${exchange.status}`];
      const inHeaders = exchange.headers['grpc-status'] !== undefined && messages.length > 0;
      if (inHeaders) return ['The headers of a call with messages contain grpc-status'];
      if (status.name !== undefined) return [];
      return [`grpc-status is ${trailers['grpc-status'] ?? 'missing'}`];
    }),
  },
  {
    id: 'grpc.content-type',
    ...must('10.1', 'GRPC-001', '0.3/grpc-content-type'),
    sentence: 'The agent responds with the content type application/grpc.',
    remedy: 'Set content-type to application/grpc or application/grpc+proto, also for errors.',
    transports: ['GRPC'],
    check: onCall((_grpc, { exchange: { headers } }) => {
      const type = headers['content-type'] ?? 'missing';
      return /^application\/grpc(\+proto)?(;|$)/i.test(type) ? [] : [`The content type is ${type}`];
    }),
  },
  {
    id: 'grpc.message',
    ...must('10.6', 'ERR-017', '0.3/grpc-message'),
    sentence: 'The agent sends a message with every error, percent-encoded in grpc-message.',
    remedy: 'Set grpc-message; percent-encode all bytes except printable ASCII.',
    transports: ['GRPC'],
    check: onError(({ status: { message, problems } }) => {
      const encoding = problems.filter((each) => each.startsWith('grpc-message'));
      return message === '' ? ['The error has no grpc-message', ...encoding] : encoding;
    }),
  },
  {
    id: 'grpc.details',
    ...must('10.6', 'ERR-018', '0.3/grpc-details'),
    sentence:
      'The agent encodes the details of an error as google.rpc.Status, with the code of the call and a type for each detail.',
    remedy: 'Serialize google.rpc.Status in base64 as grpc-status-details-bin, with the code of grpc-status.',
    transports: ['GRPC'],
    check: onError(({ status, trailers }) => {
      if (status.details === undefined) return [];
      const messages = status.problems.filter((each) => !each.startsWith('grpc-message'));
      if (String(status.detailsCode) !== trailers['grpc-status'])
        messages.push(`The code of the details is ${status.detailsCode}, not ${trailers['grpc-status']}`);
      if (status.details.some((each) => !String(each['@type']).includes('/')))
        messages.push('A detail of the error has no type URL');
      return messages;
    }),
  },
  {
    id: 'grpc.status-mapping',
    ...must('5.4', 'ERR-020', 'ERR-021', 'BIND-003'),
    sentence: 'The agent sends every A2A error with the status code of the mapping table.',
    remedy: 'Use the gRPC column of the table in section 5.4, such as NOT_FOUND for TaskNotFound.',
    versions: ['1.0'],
    transports: ['GRPC'],
    check(observation) {
      if (observation.kind !== 'response') return undefined;
      const { error } = observation.response;
      const name = errorNames.get(error?.reason ?? '');
      if (!error || name === undefined) return undefined;
      const mismatch = errorMismatch(error, name as ProtocolErrorName, observation.driver);
      return mismatch === undefined ? [] : [`${error.reason} must have ${mismatch}`];
    },
  },
  {
    id: 'grpc.frames',
    ...must('10.1', 'GRPC-001', '0.3/grpc-frames'),
    sentence: 'The agent sends complete messages, and compresses them only if the client accepts it.',
    remedy: 'Write a flag of 0, the length in four bytes, and as many bytes as the length says.',
    transports: ['GRPC'],
    check: onCall(({ messages, incompleteBytes }) => {
      if (messages.length === 0 && incompleteBytes === 0) return undefined;
      const found = messages
        .filter(({ flag }) => flag !== 0)
        .map(({ flag }) => `The flag of a message is ${flag}, but the client accepts no compression`);
      if (incompleteBytes > 0) found.push(`${incompleteBytes} bytes follow the last complete message`);
      return found;
    }),
  },
  {
    id: 'grpc.wire',
    ...must('10.1', 'GRPC-001', '0.3/grpc-wire'),
    sentence: 'The agent encodes messages as the protocol buffers of the version.',
    remedy: 'Generate the code from a2a.proto of the version; 1.0 and 0.3 have different field numbers.',
    transports: ['GRPC'],
    check: onMessages('malformed'),
  },
  {
    id: 'grpc.enum',
    ...must('4.1.3', 'MODEL-003', '0.3/grpc-enum'),
    sentence: 'The agent sends only the enumeration values of the version.',
    remedy: 'Use the numbers of TaskState and Role in a2a.proto.',
    transports: ['GRPC'],
    check: onMessages('enum'),
  },
  {
    id: 'grpc.fields',
    ...should('10.1', 'GRPC-001', '0.3/grpc-fields'),
    sentence: 'The agent sends only fields of the version, and each single field once.',
    remedy: 'Generate the code from a2a.proto of the version, and send extensions as metadata.',
    transports: ['GRPC'],
    check: onMessages('unknown-field', 'repeated'),
  },
  {
    id: 'grpc.unary',
    ...must('10.3', 'GRPC-001', '0.3/grpc-unary'),
    sentence: 'The agent answers a unary call with one message, and a failed one with none.',
    remedy: 'Send one message with the status OK, or an error status alone.',
    transports: ['GRPC'],
    check(observation) {
      const { kind, exchange } = observation;
      if (kind !== 'response' || exchange.end !== 'complete' || !exchange.grpc) return undefined;
      const { status, messages } = exchange.grpc;
      const isStreaming = observation.operation === 'stream' || observation.operation === 'subscribe';
      if (status.name === undefined || isStreaming) return undefined;
      const expected = status.name === 'OK' ? 1 : 0;
      return messages.length === expected
        ? []
        : [`${messages.length} messages with the status ${status.name}`];
    },
  },
  {
    id: 'grpc.stream-status',
    ...must('10.7', 'GRPC-010', 'STRM-006', '0.3/grpc-stream-status'),
    category: 'streaming',
    preconditions: ['streaming'],
    sentence: 'The agent ends a stream with the status OK after the terminal state or the message.',
    remedy: 'Close the stream with OK; an error status tells clients that events are missing.',
    transports: ['GRPC'],
    check(observation) {
      if (observation.kind !== 'stream' || !observation.isComplete) return undefined;
      const { events, exchange } = observation;
      const last = events.at(-1);
      if (last?.kind !== 'message' && !terminalStates.has(eventState(last))) return undefined;
      const name = exchange.grpc?.status.name;
      return name === 'OK' ? [] : [`The stream ended with ${name ?? 'no status'} after its last event`];
    },
  },
]);
