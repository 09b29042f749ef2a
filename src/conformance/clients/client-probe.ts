import { type Evidence, InconclusiveError, NotApplicableError, RuleViolationError } from '../check-errors.ts';
import type { CheckedVariant } from '../conformance-level.ts';
import type { ClientInstruction, ClientOperation, ClientUnderTest } from './client-under-test.ts';
import type { ClientObservation } from './client-check.ts';
import {
  callsOf,
  type ClientRun,
  describeExit,
  endedByItself,
  isSuccess,
  messagesOf,
  printed,
  runExchanges,
  showsError,
  summarizeRun,
} from './client-run.ts';
import { toExchange } from './server/received-request.ts';
import { type AgentScript, SuiteAgent } from './server/suite-agent.ts';

/** What all probes of a run share. */
export interface ClientProbeContext {
  readonly client: ClientUnderTest;
  /** Time limit of one execution of the client, in milliseconds. */
  readonly timeout: number;
  /** Limits the number of concurrent executions. */
  readonly limit: <T>(work: () => Promise<T>) => Promise<T>;
  readonly observe: (observation: ClientObservation) => void;
  readonly signal: AbortSignal | undefined;
  /** Counts an execution. */
  readonly countRun: (run: ClientRun) => void;
}

/** Whether the client performs an operation against a correct agent. */
export type OperationSupport =
  | { readonly isOffered: true; readonly run: ClientRun; readonly printsAnswer: boolean }
  | { readonly isOffered: false; readonly reason: string };

/** Runs the client for a check in one protocol variant and asserts what it does. */
export class ClientProbe {
  readonly variant: CheckedVariant;
  readonly #context: ClientProbeContext;
  readonly #support: ReadonlyMap<ClientOperation, OperationSupport>;
  /** Variants that the client offers. */
  readonly offered: readonly CheckedVariant[];
  #runs = 0;

  constructor(
    variant: CheckedVariant,
    context: ClientProbeContext,
    support: ReadonlyMap<ClientOperation, OperationSupport> = new Map(),
    offered: readonly CheckedVariant[] = [],
  ) {
    this.variant = variant;
    this.#context = context;
    this.#support = support;
    this.offered = offered;
  }

  /** Number of executions of the client. */
  get runCount(): number {
    return this.#runs;
  }

  get takesToken(): boolean {
    return this.#context.client.takesToken === true;
  }

  /** @throws NotApplicableError if the client does not offer the operation. @returns its execution by a correct agent */
  require(operation: ClientOperation): ClientRun {
    const support = this.#support.get(operation);
    if (support?.isOffered === true) return support.run;
    throw new NotApplicableError(support?.reason ?? notTold(operation));
  }

  /** Runs the client against an agent that follows the script. Optional features that the operation needs are declared. */
  run(
    operation: ClientOperation,
    script: AgentScript = {},
    changes: Partial<ClientInstruction> = {},
  ): Promise<ClientRun> {
    return this.#context.limit(() => this.#run(operation, script, changes));
  }

  async #run(
    told: ClientOperation,
    script: AgentScript,
    changes: Partial<ClientInstruction>,
  ): Promise<ClientRun> {
    const { client, timeout, observe, signal, countRun } = this.#context;
    this.#runs++;
    const word = crypto.randomUUID().slice(0, 8);
    const values = { contextId: `context-${word}`, newTaskId: `task-${word}`, answer: `answer-${word}` };
    const features = { ...operationFeatures[told], ...script.features };
    const holdTime = Math.max(1_000, timeout / 3);
    const agent = new SuiteAgent(this.variant, { ...script, features }, values, holdTime);
    const { agent: url } = await agent.start();
    const startedAt = performance.now();
    const limit = AbortSignal.timeout(timeout);
    // A client that streams for `send` as well may know no operations, so it receives `send` here too.
    const operation = told === 'stream' && this.#streamsWhenSending() ? 'send' : told;
    const instruction = {
      url,
      operation,
      text: `hello-${word}`,
      reply: `reply-${word}`,
      taskId: values.newTaskId,
      token: `token-${crypto.randomUUID()}`,
      ...changes,
    };
    try {
      const exit = await client.run(instruction, signal ? AbortSignal.any([limit, signal]) : limit);
      const milliseconds = performance.now() - startedAt;
      await agent.settle();
      const run: ClientRun = {
        instruction,
        values,
        exit,
        milliseconds,
        requests: agent.requests,
        notifications: agent.notifications,
      };
      countRun(run);
      for (const request of script.hasBrokenCard ? [] : run.requests)
        observe({ driver: this.variant, exchange: toExchange(request, url), request, run });
      return run;
    } finally {
      agent.close();
    }
  }

  #streamsWhenSending(): boolean {
    const support = this.#support.get('stream');
    return support?.isOffered === true && support.run.instruction.operation === 'send';
  }

  /** Returns true if the client prints the answer of an agent when it performs the operation. */
  printsAnswer(operation: ClientOperation): boolean {
    const support = this.#support.get(operation);
    return support?.isOffered === true && support.printsAnswer;
  }

  /** @throws NotApplicableError if the client does not print the answer of an agent. */
  requirePrintedAnswer(operation: ClientOperation): void {
    if (!this.printsAnswer(operation))
      throw new NotApplicableError('The client does not print the answer of the agent.');
  }

  /** @throws RuleViolationError with the run as evidence unless `holds` is truthy. */
  expect(run: ClientRun, holds: unknown, message: string, evidence: Evidence = {}): void {
    if (!holds)
      throw new RuleViolationError(message, {
        exchanges: runExchanges(run),
        client: summarizeRun(run),
        ...evidence,
      });
  }

  /** @throws RuleViolationError unless both values are equal. */
  expectEqual(run: ClientRun, actual: unknown, expected: unknown, message: string): void {
    this.expect(run, actual === expected, message, { expected, actual });
  }

  /** @throws RuleViolationError unless the client succeeded and, if it can, printed the answer. */
  expectSuccess(run: ClientRun, operation: ClientOperation, situation: string): void {
    this.expectExitZero(run, situation);
    if (this.printsAnswer(operation))
      this.expect(run, printed(run, run.values.answer), `The client lost the answer: ${situation}.`, {
        expected: `the output contains ${run.values.answer}`,
        actual: describeExit(run),
      });
  }

  /** @throws RuleViolationError unless the client succeeded. */
  expectExitZero(run: ClientRun, situation: string): void {
    const evidence = { expected: 'exit code 0', actual: describeExit(run) };
    this.expect(
      run,
      isSuccess(run),
      `The client failed although the agent is correct: ${situation}.`,
      evidence,
    );
  }

  /** @throws RuleViolationError unless the client ended by itself and reported an error. */
  expectVisibleError(run: ClientRun, situation: string, text?: string): void {
    this.expectEnd(run, situation);
    this.expect(run, showsError(run, text), `The client reported success: ${situation}.`, {
      expected: `an exit code other than 0${text === undefined ? '' : `, or the text ${JSON.stringify(text)} in its output`}`,
      actual: describeExit(run),
    });
  }

  /** @throws RuleViolationError unless the client ended by itself. */
  expectEnd(run: ClientRun, situation: string): void {
    const problem = run.exit.isTimeout ? 'hung' : 'crashed';
    this.expect(run, endedByItself(run), `The client ${problem}: ${situation}.`, {
      expected: 'an end with an exit code, in time',
      actual: describeExit(run),
    });
  }

  /** @throws RuleViolationError if the client sent its message more than once; InconclusiveError if it sent none. */
  expectOneMessage(run: ClientRun, situation: string): void {
    const { length } = messagesOf(run);
    if (length === 0) throw new InconclusiveError(`The client sent no message (${describeExit(run)}).`);
    this.expect(run, length === 1, `The client sent its message ${length} times: ${situation}.`, {
      expected: 'once',
    });
  }
}

/** Features that the card must declare for an operation. */
const operationFeatures: { readonly [operation in ClientOperation]?: AgentScript['features'] } = {
  stream: { streaming: true },
  subscribe: { streaming: true },
  push: { push: true },
  'extended-card': { extendedCard: true, security: true },
};

function notTold(operation: ClientOperation): string {
  return `The client cannot be told the operation ${operation}: use {operation} in the command, or --operations.`;
}

/** Script of an agent that asks for input once. */
export const askingScript: AgentScript = {
  reply(call, { agent }) {
    if (call.message?.taskId !== undefined || !call.message) return undefined;
    const task = agent.task(call, 'input-required', { statusText: 'Which one?' });
    return { kind: 'content', content: { kind: 'task', task } };
  },
};

/** Returns true if a run shows that the client performs the operation. */
export function performs(operation: ClientOperation, run: ClientRun): boolean {
  switch (operation) {
    case 'send':
      return messagesOf(run).length > 0;
    case 'converse':
      return messagesOf(run).length > 1;
    case 'push':
      return (
        callsOf(run, 'createPush').length > 0 ||
        messagesOf(run).some(({ body }) => /[pP]ushNotification/.test(body))
      );
    case 'extended-card':
      return callsOf(run, 'extendedCard').length > 0;
    default:
      return callsOf(run, operation).length > 0;
  }
}
