import { randomUUID } from 'node:crypto';
import type { Redactor } from '../../primitives/redaction.ts';
import { buildReport, type ConformanceReport, listResults } from '../../conformance/report/build-report.ts';
import {
  type ComparedResult,
  listChanges,
  type ReportChange,
} from '../../conformance/report/compare-reports.ts';
import type { RunChecksOutcome } from '../../conformance/run-checks.ts';
import type { RuleResult } from '../../conformance/rule-model.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { ReportEntry } from '../console-api.ts';

/** Number of reports that are kept; the oldest is removed first. */
const maxReports = 20;

/** A run whose rules can be repeated. */
export interface KeptRun {
  readonly agentId: string;
  readonly outcome: RunChecksOutcome;
  readonly command: string;
  readonly suite: string;
  /** Removes the secrets of the run. */
  readonly redactor: Redactor;
}

interface KeptReport {
  readonly entry: ReportEntry;
  readonly results: readonly ComparedResult[];
  /** Undefined for an uploaded report. */
  readonly full?: { readonly run: KeptRun; readonly report: ConformanceReport };
}

/** Reports of the page's runs, and verdicts of reports that the user uploaded. They are kept in memory only. */
export class KeptReports {
  readonly #reports = new Map<string, KeptReport>();

  /** Newest first. */
  get entries(): ReportEntry[] {
    return [...this.#reports.values()].map(({ entry }) => entry).toReversed();
  }

  /** Adds the report of a run, or replaces the one with the same ID. */
  addRun(run: KeptRun, id: string = randomUUID()): ReportEntry {
    const { outcome, suite, command, redactor } = run;
    const report = buildReport(outcome, { suite, command, redactor });
    const { agentName, testDate, conformanceLevel, unreachable } = report;
    const entry: ReportEntry = {
      id,
      agentId: run.agentId,
      agentName,
      testDate,
      ...(unreachable === undefined && { level: conformanceLevel }),
      isUploaded: false,
    };
    return this.#keep({ entry, results: listResults(report), full: { run, report } });
  }

  /** Adds the verdicts of an uploaded report. */
  addUploaded(
    report: Pick<ReportEntry, 'agentName' | 'testDate' | 'level'>,
    results: readonly ComparedResult[],
  ): ReportEntry {
    const { agentName, testDate, level } = report;
    const entry: ReportEntry = {
      id: randomUUID(),
      agentName,
      testDate,
      ...(level && { level }),
      isUploaded: true,
    };
    return this.#keep({ entry, results });
  }

  /** @throws {@link A2AError} `NOT_FOUND` if the report is not one of a run */
  getRun(id: string): NonNullable<KeptReport['full']> {
    const { full } = this.#get(id);
    if (!full) throw new A2AError('NOT_FOUND', 'Of an uploaded report only the verdicts are kept');
    return full;
  }

  /** Lists the differences to an earlier report. */
  changesSince(earlierId: string, id: string): ReportChange[] {
    return listChanges(this.#get(earlierId).results, this.#get(id).results);
  }

  /** Replaces results of a run, and builds its report again. */
  replaceResults(
    id: string,
    again: RunChecksOutcome,
    isReplaced: (result: RuleResult) => boolean,
  ): ReportEntry {
    const { run } = this.getRun(id);
    const { outcome } = run;
    const results = [
      ...outcome.results.filter((each) => !isReplaced(each)),
      ...again.results.filter((each) => isReplaced(each)),
    ];
    const messages = outcome.messages + again.messages;
    const requests = outcome.requests + again.requests;
    return this.addRun({ ...run, outcome: { ...outcome, results, messages, requests } }, id);
  }

  #get(id: string): KeptReport {
    const report = this.#reports.get(id);
    if (!report)
      throw new A2AError('NOT_FOUND', 'Report not found', {
        hint: `The console keeps the last ${maxReports} reports until it is stopped. Upload the JSON file of this one.`,
      });
    return report;
  }

  #keep(report: KeptReport): ReportEntry {
    this.#reports.set(report.entry.id, report);
    for (const id of this.#reports.keys()) {
      if (this.#reports.size <= maxReports) break;
      this.#reports.delete(id);
    }
    return report.entry;
  }
}
