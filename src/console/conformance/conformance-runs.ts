import type { HttpClient } from '../../client/http/http-client.ts';
import { buildReport, type ConformanceResult, listResults } from '../../conformance/report/build-report.ts';
import type { RuleResult } from '../../conformance/rule-model.ts';
import { fixturePrompts, tckPrompts } from '../../conformance/prompts/prompt-catalog.ts';
import type { RunChecksOptions } from '../../conformance/run-checks.ts';
import type { TestConformanceOptions } from '../../conformance/test-conformance.ts';
import { Redactor } from '../../primitives/redaction/redaction.ts';
import { A2AError } from '../../protocol/errors.ts';
import { type ConsoleAgent, errorText } from '../agents/console-agent.ts';
import { credentialHeaders } from '../agents/credentials.ts';
import type { ConformanceEvent, ConformanceInput, HeaderInput, RerunInput } from '../console-api.ts';
import { RunEvents } from '../run-events.ts';
import type { TestTraffic } from '../test-traffic.ts';
import { adviseForPage } from './advise-for-page.ts';
import type { KeptReports } from './kept-reports.ts';
import type { SavedPrompts } from './saved-prompts.ts';

/** Collaborators of {@link ConformanceRuns}. */
export interface ConformanceRunsContext {
  readonly http: HttpClient;
  /** Version of the suite. */
  readonly version: string;
  readonly testTraffic: TestTraffic;
  readonly reports: KeptReports;
  readonly prompts: SavedPrompts;
}

interface CurrentRun {
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

/**
 * Conformance runs of the page, one at a time, because two runs would affect each other. A run belongs to the server: it
 * continues when the page is closed or reloaded, and its events are kept until the next run. They are bounded by the number
 * of rules.
 */
export class ConformanceRuns {
  readonly events = new RunEvents<ConformanceEvent>();
  readonly #context: ConformanceRunsContext;
  /** Options of runs with a kept report, by its ID. They contain credentials and stay in memory. */
  readonly #inputs = new Map<string, ConformanceInput>();
  #current: CurrentRun | undefined;
  /** The end of the last run, also if it was canceled. */
  #leftover: Promise<void> = Promise.resolve();

  constructor(context: ConformanceRunsContext) {
    this.#context = context;
    this.#showNewestReport();
  }

  /** Lets the page show the newest report of an earlier run of the console. */
  #showNewestReport(): void {
    const newest = this.#context.reports.entries.find(({ isUploaded }) => !isUploaded);
    if (newest?.agentId === undefined) return;
    const { id, agentId, agentName, testDate } = newest;
    this.events.startRun({ kind: 'started', agentId, agentName, startedAt: Date.parse(testDate) || 0 });
    this.events.add({ kind: 'report', reportId: id });
  }

  /** Starts a run. @throws {@link A2AError} `CONFLICT` during another one */
  start(agent: ConsoleAgent, input: ConformanceInput): void {
    this.#start(agent, undefined, async (signal) => {
      const { reports, version } = this.#context;
      const { options, redactor } = await this.#optionsFor(agent, input, signal);
      const outcome = await test(agent, options);
      if (signal.aborted) return undefined;
      const { id: agentId, url } = agent.info;
      const command = `dragoman conformance ${url}${input.fixtures ? ` --fixtures ${input.fixtures}` : ''}`;
      const suite = `dragoman ${version}`;
      const { id } = reports.addRun(agentId, buildReport(outcome, { suite, command, redactor }));
      this.#inputs.set(id, input);
      const kept = new Set(reports.entries.map((each) => each.id));
      for (const known of this.#inputs.keys()) if (!kept.has(known)) this.#inputs.delete(known);
      return id;
    });
  }

  /** Repeats one rule of a kept report, and replaces its result. */
  repeat(agent: ConsoleAgent, reportId: string, rule: RerunInput): void {
    const { reports } = this.#context;
    const input = this.#inputs.get(reportId) ?? { agentId: agent.info.id };
    this.#start(agent, rule.test, async (signal) => {
      const { options, redactor } = await this.#optionsFor(agent, input, signal);
      const { allInvariants } = await import('../../conformance/invariants/index.ts');
      // An invariant is evaluated on the observations of all checks.
      const only = allInvariants.some(({ id }) => id === rule.test) ? {} : { only: [rule.test] };
      const transports = rule.transport && { transports: [rule.transport] };
      const outcome = await test(agent, {
        ...options,
        ...only,
        level: 'MAY',
        versions: [rule.version],
        ...transports,
      });
      if (signal.aborted) return undefined;
      const isRepeated = (result: ConformanceResult): boolean =>
        result.test === rule.test && result.version === rule.version && result.transport === rule.transport;
      const { provenance } = reports.getRun(reportId).report;
      const again = buildReport(outcome, { ...provenance, redactor });
      if (!listResults(again).some(isRepeated))
        throw new A2AError('NOT_FOUND', outcome.unreachable ?? 'The rule no longer applies to the agent', {
          hint: 'Run all tests again.',
        });
      return reports.replaceResults(reportId, again, isRepeated).id;
    });
  }

  /** Ends the run without a report; does nothing if there is none. */
  async cancel(): Promise<void> {
    this.#current?.stop.abort();
    await this.#current?.ended;
  }

  /** @param work - returns the ID of the report, or undefined if the run was canceled */
  #start(
    agent: ConsoleAgent,
    rule: string | undefined,
    work: (signal: AbortSignal) => Promise<string | undefined>,
  ): void {
    if (this.#current)
      throw new A2AError('CONFLICT', 'A conformance run is already in progress', {
        hint: 'Wait until it ends, or cancel it.',
      });
    const { id: agentId, url } = agent.info;
    const agentName = agent.name ?? url;
    this.events.startRun({
      kind: 'started',
      agentId,
      agentName,
      startedAt: Date.now(),
      ...(rule && { rule }),
    });
    const stop = new AbortController();
    const { signal } = stop;
    // Requests of a canceled run may still be open.
    const working = this.#leftover.then(() => work(signal));
    this.#leftover = working.then(
      () => {},
      () => {},
    );
    const canceled = new Promise<undefined>((resolve) => {
      signal.addEventListener('abort', () => resolve(undefined));
    });
    const ended = Promise.race([working, canceled])
      .then(
        (reportId): ConformanceEvent =>
          reportId === undefined ? { kind: 'canceled' } : { kind: 'report', reportId },
        (thrown: unknown): ConformanceEvent => ({
          kind: 'error',
          reason: A2AError.from(thrown).reason,
          message: errorText(thrown),
        }),
      )
      .then((last) => {
        this.#current = undefined;
        this.events.add(last);
      });
    this.#current = { stop, ended };
  }

  async #optionsFor(
    agent: ConsoleAgent,
    input: ConformanceInput,
    signal: AbortSignal,
  ): Promise<{ options: TestConformanceOptions; redactor: Redactor }> {
    const { http, testTraffic, prompts } = this.#context;
    const { fixtures, otherUser, restrictedUser, level, timeout, maxTime, maxMessages, webhookUrl } = input;
    const headers = await credentialHeaders(agent.info.credentials, agent.info.url, http);
    const otherUserHeaders = otherUser && toHeaders(otherUser);
    const restrictedUserHeaders = restrictedUser && toHeaders(restrictedUser);
    const known = fixtures === 'fx' ? fixturePrompts : fixtures === 'tck' ? tckPrompts : {};
    const add = (event: ConformanceEvent): void => {
      if (!signal.aborted) this.events.add(event);
    };
    const options: TestConformanceOptions = {
      headers,
      prompts: { ...known, ...prompts.get(agent.info.id) },
      ...(otherUserHeaders && { otherUserHeaders }),
      ...(restrictedUserHeaders && { restrictedUserHeaders }),
      ...(level && { level }),
      ...(timeout !== undefined && { timeout }),
      ...(maxTime !== undefined && { maxTime }),
      ...(maxMessages !== undefined && { maxMessages }),
      ...(webhookUrl !== undefined && { webhookUrl }),
      advise: adviseForPage,
      signal,
      onTask: (id) => testTraffic.addTask(id),
      onCheck: ({ id: rule, about }, { version, transport }) =>
        add({ kind: 'checking', rule, version, ...(about !== 'card' && { transport }) }),
      onProgress: (done, total, last) => {
        if (last) add({ kind: 'checked', done, total, ...describeResult(last) });
      },
    };
    return { options, redactor: new Redactor(headers, otherUserHeaders, restrictedUserHeaders) };
  }
}

/** Loads the rules on demand. */
async function test(agent: ConsoleAgent, options: TestConformanceOptions) {
  const { testConformance } = await import('../../conformance/test-conformance.ts');
  return testConformance(agent.info.url, options);
}

function toHeaders({ name, value }: HeaderInput): NonNullable<RunChecksOptions['headers']> {
  return { [name.toLowerCase()]: value };
}

function describeResult({ rule, version, transport, verdict }: RuleResult) {
  return { rule: rule.id, level: rule.level, version, ...(transport && { transport }), verdict };
}
