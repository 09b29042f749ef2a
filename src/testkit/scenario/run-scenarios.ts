import { availableParallelism } from 'node:os';
import { fileMismatches } from './expectations/expect-files.ts';
import { outputMismatches } from './expectations/expect-output.ts';
import { requestMismatches } from './expectations/expect-requests.ts';
import type { ExpectationMismatch } from './expectations/compare-values.ts';
import type { Scenario } from './files/read-scenarios.ts';
import type { ScenarioCapture, ScenarioHarness } from './harness/harness-types.ts';

/** What became of one case. */
export interface ScenarioResult {
  readonly scenario: Scenario;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  /** Why it was skipped, or what stopped it. */
  readonly reason?: string;
  readonly mismatches: readonly ExpectationMismatch[];
  readonly milliseconds: number;
  /** What was seen, where it ran. */
  readonly capture?: ScenarioCapture;
}

/** How cases are run. */
export interface RunScenariosOptions {
  /** Makes a rig; each worker has its own and keeps it for all its cases. */
  readonly openHarness: () => ScenarioHarness | Promise<ScenarioHarness>;
  /** How many cases run at once. @defaultValue twice the number of cores */
  readonly parallel?: number;
  /** Hears of each case as it ends. */
  readonly onResult?: (result: ScenarioResult) => void;
  /** Ends the run: cases that have not begun are skipped. */
  readonly signal?: AbortSignal;
}

/** Runs cases, several at a time, and gives the results in the order of the cases. */
export async function runScenarios(
  scenarios: readonly Scenario[],
  options: RunScenariosOptions,
): Promise<ScenarioResult[]> {
  const { parallel = 2 * availableParallelism(), onResult } = options;
  const results: ScenarioResult[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    let rig: ScenarioHarness | undefined;
    try {
      for (let at = next++; at < scenarios.length; at = next++) {
        const scenario = scenarios[at] as Scenario;
        const skipped = options.signal?.aborted ? 'the run was stopped' : scenario.skipped;
        rig ??= skipped === undefined ? await options.openHarness() : undefined;
        const result =
          skipped === undefined && rig
            ? await runScenario(scenario, rig)
            : {
                scenario,
                outcome: 'skipped' as const,
                reason: skipped ?? '',
                mismatches: [],
                milliseconds: 0,
              };
        results[at] = result;
        onResult?.(result);
      }
    } finally {
      await rig?.close();
    }
  };
  const workers = Math.max(1, Math.min(parallel, scenarios.length));
  await Promise.all(Array.from({ length: workers }, work));
  return results;
}

async function runScenario(scenario: Scenario, rig: ScenarioHarness): Promise<ScenarioResult> {
  const began = performance.now();
  const seconds = scenario.spec.expected_completion_timeout_seconds;
  const timeout = AbortSignal.timeout(seconds * 1_000);
  let capture: ScenarioCapture | undefined;
  const mismatches: ExpectationMismatch[] = [];
  let reason: string | undefined;
  try {
    capture = await rig.run(scenario, timeout);
    mismatches.push(
      ...outputMismatches(scenario, capture.events),
      ...(await fileMismatches(scenario, capture.files)),
      ...requestMismatches(scenario, capture),
    );
    const last = capture.events.at(-1)?.type;
    if (timeout.aborted && last !== 'final_response' && last !== 'error')
      reason = `it did not end within ${seconds} s (expected_completion_timeout_seconds)`;
  } catch (thrown) {
    reason = thrown instanceof Error ? thrown.message : String(thrown);
  }
  return {
    scenario,
    outcome: mismatches.length === 0 && reason === undefined ? 'passed' : 'failed',
    ...(reason === undefined ? {} : { reason }),
    mismatches,
    milliseconds: performance.now() - began,
    ...(capture ? { capture } : {}),
  };
}
