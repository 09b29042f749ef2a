import type { DriverOperation } from '../drivers/protocol-driver.ts';
import type { ClientRunSummary } from '../rule-model.ts';
import type { HttpExchange } from '../wire/http-exchange.ts';
import { truncate } from '../../primitives/text.ts';
import type { ClientExit, ClientInstruction } from './client-under-test.ts';
import type { RunValues } from './server/correct-agent.ts';
import type { SentNotification } from './server/webhook-notifier.ts';
import { type ReceivedCall, type ReceivedRequest, toExchange } from './server/received-request.ts';

/** A request with a recognized call. */
export type CallRequest = ReceivedRequest & { readonly call: ReceivedCall };

/** One execution of the client against an agent of the suite. */
export interface ClientRun {
  readonly instruction: ClientInstruction;
  readonly values: RunValues;
  readonly exit: ClientExit;
  readonly milliseconds: number;
  readonly requests: readonly ReceivedRequest[];
  /** Notifications that the suite sent to a webhook of the client. */
  readonly notifications: readonly SentNotification[];
}

/** Returns the calls of the given operations, in the order of their arrival. */
export function callsOf({ requests }: ClientRun, ...operations: readonly DriverOperation[]): CallRequest[] {
  return requests.filter(
    (request): request is CallRequest =>
      request.call !== undefined && operations.includes(request.call.operation),
  );
}

/** Returns the calls that send a message. */
export function messagesOf(run: ClientRun): CallRequest[] {
  return callsOf(run, 'send', 'stream');
}

/** Returns true if the client reported success. */
export function isSuccess({ exit }: ClientRun): boolean {
  return exit.code === 0 && !exit.isTimeout;
}

/** Returns true if the client ended by itself: neither at the time limit nor by a signal. */
export function endedByItself({ exit }: ClientRun): boolean {
  return exit.code !== undefined && !exit.isTimeout;
}

/** Returns true if the client reported an error by its exit code, or printed the text of the error. */
export function showsError(run: ClientRun, text?: string): boolean {
  if (endedByItself(run) && !isSuccess(run)) return true;
  return text !== undefined && printed(run, text);
}

/** Returns true if an output of the client contains the text. */
export function printed({ exit }: ClientRun, text: string): boolean {
  return exit.stdout.includes(text) || exit.stderr.includes(text);
}

/** Says how the client ended, such as `exit code 1: not found`. */
export function describeExit({ exit, milliseconds }: ClientRun): string {
  const lastLine = [exit.stderr, exit.stdout]
    .map((text) => text.trim().split('\n').at(-1) ?? '')
    .find((line) => line !== '');
  const output = lastLine === undefined ? '' : `: ${truncate(lastLine, 200)}`;
  if (exit.isTimeout) return `ended by the time limit after ${Math.round(milliseconds)} ms${output}`;
  return exit.code === undefined
    ? `ended by ${exit.signal ?? 'a signal'}${output}`
    : `exit code ${exit.code}${output}`;
}

/** Requests of a run that a report contains. */
const maxExchanges = 8;
/** Characters of an output that a report contains. */
const maxOutput = 4_096;

/** Returns the requests of a run as evidence. */
export function runExchanges({ requests, instruction }: ClientRun): HttpExchange[] {
  return requests.slice(0, maxExchanges).map((request) => toExchange(request, instruction.url));
}

/** Returns the part of a run that a report contains. */
export function summarizeRun({ instruction, exit, milliseconds }: ClientRun): ClientRunSummary {
  return {
    operation: instruction.operation,
    ...(exit.code === undefined ? {} : { exitCode: exit.code }),
    ...(exit.signal === undefined ? {} : { signal: exit.signal }),
    ...(exit.isTimeout ? { isTimeout: true } : {}),
    duration_ms: Math.round(milliseconds),
    stdout: truncate(exit.stdout, maxOutput, { showLength: true }),
    stderr: truncate(exit.stderr, maxOutput, { showLength: true }),
  };
}
