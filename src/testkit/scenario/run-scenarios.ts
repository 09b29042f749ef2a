import { availableParallelism } from 'node:os';
import { fileMismatches } from './expectations/expect-files.ts';
import { outputMismatches } from './expectations/expect-output.ts';
import { requestMismatches } from './expectations/expect-requests.ts';
import type { ExpectationMismatch } from './expectations/compare-values.ts';
import type { Scenario } from './files/read-scenarios.ts';
import type { ScenarioCapture, ScenarioHarness } from './harness/harness-types.ts';

/** Result of one case. */
export interface ScenarioResult {
  readonly scenario: Scenario;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  /** Why the case was skipped or could not finish. */
  readonly reason?: string;
  readonly mismatches: readonly ExpectationMismatch[];
  readonly milliseconds: number;
  /** Observed events and requests; undefined if the case did not run. */
  readonly capture?: ScenarioCapture;
}

/** Options of {@link runScenarios}. */
export interface RunScenariosOptions {
  /** Opens a harness. Each worker opens one and uses it for all its cases. */
  readonly openHarness: () => ScenarioHarness | Promise<ScenarioHarness>;
  /** Number of parallel workers. @defaultValue twice the number of cores */
  readonly parallel?: number;
  /** Called when a case ends. */
  readonly onResult?: (result: ScenarioResult) => void;
  /** Stops the run: cases that have not started are skipped. */
  readonly signal?: AbortSignal;
}

/** Runs cases in parallel. Returns the results in the order of the cases. */
export async function runScenarios(
  scenarios: readonly Scenario[],
  options: RunScenariosOptions,
): Promise<ScenarioResult[]> {
  const { parallel = 2 * availableParallelism(), onResult } = options;
  const results: ScenarioResult[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    let harness: ScenarioHarness | undefined;
    try {
      for (let index = next++; index < scenarios.length; index = next++) {
        const scenario = scenarios[index] as Scenario;
        let result = findEarlyResult(scenario, options);
        if (!result) {
          harness ??= await options.openHarness();
          result = await runScenario(scenario, harness);
        }
        results[index] = result;
        onResult?.(result);
      }
    } finally {
      await harness?.close();
    }
  };
  const workers = Math.max(1, Math.min(parallel, scenarios.length));
  await Promise.all(Array.from({ length: workers }, work));
  return results;
}

/** Returns the result of a case that does not run. */
function findEarlyResult(
  scenario: Scenario,
  { signal }: Pick<RunScenariosOptions, 'signal'>,
): ScenarioResult | undefined {
  const { problem, skipReason } = scenario;
  const base = { scenario, mismatches: [], milliseconds: 0 };
  if (problem !== undefined) return { ...base, outcome: 'failed', reason: problem };
  const reason = signal?.aborted ? 'the run was stopped' : skipReason;
  return reason === undefined ? undefined : { ...base, outcome: 'skipped', reason };
}

async function runScenario(scenario: Scenario, harness: ScenarioHarness): Promise<ScenarioResult> {
  const startedAt = performance.now();
  const seconds = scenario.spec.expected_completion_timeout_seconds;
  const timeout = AbortSignal.timeout(seconds * 1_000);
  let capture: ScenarioCapture | undefined;
  const mismatches: ExpectationMismatch[] = [];
  let reason: string | undefined;
  try {
    capture = await harness.run(scenario, timeout);
    const { conversation } = scenario;
    if (conversation) mismatches.push(...(capture.mismatches ?? []));
    else
      mismatches.push(
        ...outputMismatches(scenario, capture.events),
        ...(await fileMismatches(scenario, capture.files)),
        ...requestMismatches(scenario, capture),
      );
    const last = capture.events.at(-1)?.type;
    const key = conversation ? 'timeout' : 'expected_completion_timeout_seconds';
    if (timeout.aborted && last !== 'final_response' && last !== 'error')
      reason = `the case did not end within ${seconds} s (${key})`;
  } catch (thrown) {
    reason = thrown instanceof Error ? thrown.message : String(thrown);
  }
  return {
    scenario,
    outcome: mismatches.length === 0 && reason === undefined ? 'passed' : 'failed',
    reason,
    mismatches,
    milliseconds: performance.now() - startedAt,
    capture,
  };
}
