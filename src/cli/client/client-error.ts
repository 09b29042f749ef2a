import { A2AError, type ErrorReason } from '../../protocol/errors.ts';
import { UsageError, errorSummary } from '../terminal/usage-error.ts';
import { sanitizeForTerminal, terminalSafeJson } from '../terminal/sanitize.ts';

/** The conditions that the protocol has no word for, and the exit code of each. */
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

/** The name of a condition that the protocol has no word for. */
export type ClientErrorCode = keyof typeof exitCodes;

/** The errors that the protocol names. */
const names: { readonly [reason in ErrorReason]?: string } = {
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

/** Something that went wrong before or outside a request. */
export class ClientError extends A2AError {
  readonly code: ClientErrorCode;

  constructor(code: ClientErrorCode, message: string, hint?: string, cause?: unknown) {
    super('INTERNAL_ERROR', message, { hint, cause });
    this.code = code;
  }
}

/** A failure as programs read it. */
export interface ErrorEnvelope {
  error: { code: string; message: string; hint: string | null; a2aCode: string | number | null };
}

/** What is known about a failure beside itself. */
export interface ClientErrorContext {
  /** True when credentials went along. */
  hasCredentials?: boolean;
  /** How to get credentials for this agent. */
  login?: string;
  /** True when identifiers were given, which the agent may not know. */
  hasIdentifiers?: boolean;
  /** Removes secrets from a text. */
  redact?: (text: string) => string;
}

/** Tells a program about a failure. */
export function toErrorEnvelope(
  thrown: unknown,
  context: ClientErrorContext = {},
): ErrorEnvelope & { exitCode: number } {
  const { redact = (text: string) => text } = context;
  const error = classified(thrown, context);
  const isLocal = error instanceof ClientError;
  const code = isLocal ? error.code : (names[error.reason] ?? 'A2ACLI_ERR_INTERNAL');
  const more =
    !isLocal && context.hasIdentifiers ? 'Run it again with --debug to see what the agent said.' : '';
  const hint = [hintFor(error), more].filter((each) => each !== '').join(' ');
  const message = isLocal || names[error.reason] === undefined ? errorSummary(error) : error.message;
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

/** Tells whoever called what went wrong, and ends with the code that fits. */
export function reportClientError(
  thrown: unknown,
  json: 'no' | 'document' | 'line',
  context: ClientErrorContext = {},
): void {
  const { exitCode, ...envelope } = toErrorEnvelope(thrown, context);
  const { code, message, hint } = envelope.error;
  if (json === 'no') {
    process.stderr.write(`Error: ${sanitizeForTerminal(message, 'line')}\nCode: ${code}\n`);
    if (hint !== null) process.stderr.write(`Hint: ${sanitizeForTerminal(hint, 'line')}\n`);
  } else {
    process.stdout.write(`${terminalSafeJson(envelope, json === 'document' ? 2 : undefined)}\n`);
  }
  process.exitCode = exitCode;
}

/** Puts what came of the transport into the words of the command. */
function classified(thrown: unknown, { hasCredentials, login }: ClientErrorContext): A2AError {
  const error = A2AError.from(thrown);
  const { reason, message, hint, cause } = error;
  if (error instanceof ClientError) return error;
  if (error instanceof UsageError) return new ClientError('A2ACLI_ERR_USAGE', message, hint, cause);
  if (reason === 'UNAUTHENTICATED' || (reason === 'PERMISSION_DENIED' && error.status !== undefined)) {
    return hasCredentials
      ? new ClientError(
          'A2ACLI_ERR_AUTH_FAILED',
          `the agent rejects the credentials: ${message}`,
          login === undefined ? 'Check that they are right, and not too old.' : `Get new ones: ${login}`,
        )
      : new ClientError('A2ACLI_ERR_CREDENTIALS_MISSING', `the agent wants credentials: ${message}`, login);
  }
  if (reason === 'UNAVAILABLE' || reason === 'TIMEOUT')
    return new ClientError('A2ACLI_ERR_UNREACHABLE', message, hint);
  if (reason === 'PERMISSION_DENIED')
    return new ClientError(
      'A2ACLI_ERR_UNREACHABLE',
      message,
      'If you trust the card, save it to a file and give that to --agent-card.',
    );
  if (reason === 'INTERNAL_ERROR' && cause instanceof Error)
    return new ClientError('A2ACLI_ERR_INTERNAL', errorSummary(cause), undefined);
  return error;
}

/** Hints that speak to programmers are put for those at a shell. */
function hintFor({ hint = '', reason }: A2AError): string {
  if (reason === 'VERSION_NOT_SUPPORTED')
    return `${hint} Versions before 1.0 are spoken only if you name one, as in --a2a-version 0.3.`.trim();
  return /`|connect\(\)/.test(hint) ? '' : hint;
}

/** The code that the transport carried. */
function transportCode({ cause, status }: A2AError): string | number | null {
  const outer = (typeof cause === 'object' && cause !== null ? cause : {}) as {
    code?: unknown;
    error?: unknown;
  };
  const inner = (
    typeof outer.error === 'object' && outer.error !== null ? outer.error : outer
  ) as typeof outer;
  return typeof inner.code === 'number' ? inner.code : (status ?? null);
}
