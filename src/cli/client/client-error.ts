import { LoginError } from '../../client/oauth/oauth-request.ts';
import { A2AError, type ErrorReason } from '../../protocol/errors.ts';
import { asJsonObject } from '../../primitives/json.ts';
import { UsageError, errorSummary } from '../terminal/usage-error.ts';
import { printErrorReport } from '../terminal/print-error.ts';
import { terminalSafeJson } from '../terminal/sanitize.ts';

/** Local error codes of the a2a-cli specification (appendix D) with their exit codes. */
const exitCodes = {
  A2ACLI_ERR_USAGE: 2,
  A2ACLI_ERR_CARD_NOT_FOUND: 3,
  A2ACLI_ERR_CARD_INVALID: 1,
  A2ACLI_ERR_UNREACHABLE: 3,
  A2ACLI_ERR_CREDENTIALS_MISSING: 4,
  A2ACLI_ERR_AUTH_FAILED: 4,
  A2ACLI_ERR_TIMEOUT: 5,
  A2ACLI_ERR_INTERNAL: 1,
} as const;

/** Code of an error that is not a protocol error. */
export type ClientErrorCode = keyof typeof exitCodes;

/** A2A names of protocol errors. */
const protocolErrorNames: { readonly [reason in ErrorReason]?: string } = {
  PARSE_ERROR: 'JSONParseError',
  INVALID_REQUEST: 'InvalidRequestError',
  METHOD_NOT_FOUND: 'MethodNotFoundError',
  INVALID_PARAMS: 'InvalidParamsError',
  INTERNAL_ERROR: 'InternalError',
  TASK_NOT_FOUND: 'TaskNotFoundError',
  TASK_NOT_CANCELABLE: 'TaskNotCancelableError',
  PUSH_NOTIFICATION_NOT_SUPPORTED: 'PushNotificationNotSupportedError',
  UNSUPPORTED_OPERATION: 'UnsupportedOperationError',
  CONTENT_TYPE_NOT_SUPPORTED: 'ContentTypeNotSupportedError',
  INVALID_AGENT_RESPONSE: 'InvalidAgentResponseError',
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: 'ExtendedAgentCardNotConfiguredError',
  EXTENSION_SUPPORT_REQUIRED: 'ExtensionSupportRequiredError',
  VERSION_NOT_SUPPORTED: 'VersionNotSupportedError',
};

/** An error of a client command that happened before or outside a request. */
export class ClientError extends A2AError {
  readonly code: ClientErrorCode;

  constructor(code: ClientErrorCode, message: string, hint?: string, cause?: unknown) {
    super('INTERNAL_ERROR', message, { hint, cause });
    this.code = code;
  }
}

/** Error envelope of the a2a-cli specification (appendix B). */
export interface ErrorEnvelope {
  error: { code: string; message: string; hint: string | null; a2aCode: string | number | null };
}

/** Context of an error, for its code and hint. */
export interface ClientErrorContext {
  /** True if credentials were sent. */
  hasCredentials?: boolean;
  /** Imperative clause that says how to get credentials for the agent. */
  login?: string;
  /** True if the command line contained a task or context ID. */
  hasIdentifiers?: boolean;
  /** Removes secrets from a text. */
  redact?: (text: string) => string;
}

/** Converts an error to the envelope and its exit code. */
export function toErrorEnvelope(
  thrown: unknown,
  context: ClientErrorContext = {},
): ErrorEnvelope & { exitCode: number } {
  const { redact = (text: string) => text } = context;
  const error = classifyError(thrown, context);
  const isLocal = error instanceof ClientError;
  const code = isLocal ? error.code : (protocolErrorNames[error.reason] ?? 'A2ACLI_ERR_INTERNAL');
  const debugHint =
    !isLocal && context.hasIdentifiers ? 'Run again with --debug to see the response of the agent.' : '';
  const hint = [userHint(error), debugHint].filter((each) => each !== '').join(' ');
  const message =
    isLocal || protocolErrorNames[error.reason] === undefined ? errorSummary(error) : error.message;
  return {
    error: {
      code,
      message: redact(message),
      hint: hint === '' ? null : redact(hint),
      a2aCode: isLocal ? null : transportCode(error),
    },
    exitCode: code in exitCodes ? exitCodes[code as ClientErrorCode] : 1,
  };
}

/** Prints an error as text or JSON and sets the exit code. */
export function reportClientError(
  thrown: unknown,
  json: 'no' | 'document' | 'line',
  context: ClientErrorContext = {},
): void {
  const { exitCode, ...envelope } = toErrorEnvelope(thrown, context);
  const { code, message, hint } = envelope.error;
  if (json === 'no') {
    printErrorReport({ message, code, hint });
  } else {
    process.stdout.write(`${terminalSafeJson(envelope, json === 'document' ? 2 : undefined)}\n`);
  }
  process.exitCode = exitCode;
}

/** Maps transport errors to local error codes. Returns protocol errors unchanged. */
function classifyError(thrown: unknown, { hasCredentials, login }: ClientErrorContext): A2AError {
  const error = A2AError.from(thrown);
  const { reason, message, hint, cause } = error;
  if (error instanceof ClientError) return error;
  if (error instanceof LoginError) return new ClientError('A2ACLI_ERR_AUTH_FAILED', message, hint);
  if (error instanceof UsageError) return new ClientError('A2ACLI_ERR_USAGE', message, hint, cause);
  if (reason === 'UNAUTHENTICATED' || (reason === 'PERMISSION_DENIED' && error.status !== undefined)) {
    return hasCredentials
      ? new ClientError(
          'A2ACLI_ERR_AUTH_FAILED',
          `The agent rejected the credentials: ${message}`,
          login === undefined ? 'Check that they are valid and not expired.' : `To get new ones, ${login}.`,
        )
      : new ClientError(
          'A2ACLI_ERR_CREDENTIALS_MISSING',
          `The agent requires credentials: ${message}`,
          login === undefined ? undefined : `To authenticate, ${login}.`,
        );
  }
  if (reason === 'UNAVAILABLE' || reason === 'TIMEOUT')
    return new ClientError('A2ACLI_ERR_UNREACHABLE', message, hint);
  if (reason === 'PERMISSION_DENIED')
    return new ClientError(
      'A2ACLI_ERR_UNREACHABLE',
      message,
      'If you trust the card, save it to a file and pass the file to --agent-card.',
    );
  if (reason === 'INTERNAL_ERROR' && cause instanceof Error)
    return new ClientError('A2ACLI_ERR_INTERNAL', errorSummary(cause), undefined);
  return error;
}

/** Returns the hint for users of the command line. Drops hints for callers of the API. */
function userHint({ hint = '', reason }: A2AError): string {
  if (reason === 'VERSION_NOT_SUPPORTED')
    return `${hint} To use every version that the agent offers, add --a2a-version auto or set A2ACLI_A2A_VERSION=auto.`.trim();
  return /`|connect\(\)/.test(hint) ? '' : hint;
}

/** Returns the JSON-RPC or HTTP code of an error. */
function transportCode({ cause, status }: A2AError): string | number | null {
  const body = asJsonObject(cause);
  const { code } = asJsonObject(body?.error) ?? body ?? {};
  return typeof code === 'number' ? code : (status ?? null);
}
