import { randomUUID } from 'node:crypto';
import {
  type ConformanceReport,
  type ConformanceResult,
  listResults,
  replaceResults,
} from '../../conformance/report/build-report.ts';
import {
  type ComparedResult,
  listChanges,
  type ReportChange,
} from '../../conformance/report/compare-reports.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { ReportEntry } from '../console-api.ts';
import type { SessionFolder } from '../sessions/session-folder.ts';
import {
  formatReportFile,
  readReportFile,
  type ReportFileContent,
  type UploadedReport,
} from './report-file.ts';

/** Limits of stored reports; the oldest are removed first. */
export const reportLimits = {
  maxReports: 20,
  /** Characters of JSON of one report in a file. A larger one is kept in memory only. */
  maxCharacters: 16 * 1_024 * 1_024,
};

const subfolder = 'reports';

interface KeptReport {
  readonly entry: ReportEntry;
  readonly results: readonly ComparedResult[];
  /** Undefined for an uploaded report. */
  readonly report?: ConformanceReport;
}

/** Reports of the page's runs, and verdicts of reports that the user uploaded. */
export class KeptReports {
  readonly #folder: SessionFolder;
  readonly #limits: typeof reportLimits;
  /** Oldest first. */
  readonly #reports = new Map<string, KeptReport>();
  /** Writes follow each other. */
  #writing: Promise<unknown> = Promise.resolve();

  constructor(folder: SessionFolder, limits: typeof reportLimits = reportLimits) {
    this.#folder = folder;
    this.#limits = limits;
  }

  /** Reads the files of an earlier run of the console. Damaged ones are reported. */
  async load(): Promise<void> {
    const files = await this.#folder.list(subfolder);
    for (const { path } of files.slice(-this.#limits.maxReports)) {
      const text = await this.#folder.read(path, this.#limits.maxCharacters * 4);
      if (text === undefined) continue;
      const file = readReportFile(text);
      if (!file) this.#folder.reportDamage(path, 'it is not a report of this console');
      else
        this.#put('run' in file ? ofRun(file.id, file.agentId, file.run) : uploaded(file.id, file.uploaded));
    }
  }

  /** Newest first. */
  get entries(): ReportEntry[] {
    return [...this.#reports.values()].map(({ entry }) => entry).toReversed();
  }

  /** Adds the report of a run. */
  addRun(agentId: string, report: ConformanceReport): ReportEntry {
    return this.#keep(ofRun(randomUUID(), agentId, report), { agentId, run: report });
  }

  /** Adds the verdicts of an uploaded report. */
  addUploaded(report: UploadedReport): ReportEntry {
    return this.#keep(uploaded(randomUUID(), report), { uploaded: report });
  }

  /** @throws {@link A2AError} `NOT_FOUND` if the report is not one of a run */
  getRun(id: string): { readonly agentId: string; readonly report: ConformanceReport } {
    const { entry, report } = this.#get(id);
    if (!report) throw new A2AError('NOT_FOUND', 'Of an uploaded report only the verdicts are kept');
    return { agentId: entry.agentId ?? '', report };
  }

  /** Lists the differences to an earlier report. */
  changesSince(earlierId: string, id: string): ReportChange[] {
    return listChanges(this.#get(earlierId).results, this.#get(id).results);
  }

  /** Replaces results of a run. */
  replaceResults(
    id: string,
    again: ConformanceReport,
    isReplaced: (result: ConformanceResult) => boolean,
  ): ReportEntry {
    const { agentId, report } = this.getRun(id);
    const run = replaceResults(report, again, isReplaced);
    return this.#keep(ofRun(id, agentId, run), { agentId, run });
  }

  /** Waits until everything is written. */
  async close(): Promise<void> {
    await this.#writing;
  }

  #get(id: string): KeptReport {
    const report = this.#reports.get(id);
    if (!report)
      throw new A2AError('NOT_FOUND', 'Report not found', {
        hint: `The console keeps the last ${this.#limits.maxReports} reports. Upload the JSON file of this one.`,
      });
    return report;
  }

  #put(kept: KeptReport): void {
    this.#reports.set(kept.entry.id, kept);
  }

  #keep(kept: KeptReport, content: ReportFileContent): ReportEntry {
    this.#put(kept);
    const { id } = kept.entry;
    const removed = [...this.#reports.keys()].slice(0, -this.#limits.maxReports);
    for (const each of removed) this.#reports.delete(each);
    this.#writing = this.#writing.then(async () => {
      const text = formatReportFile(this.#folder.redactor.redactDeep({ id, ...content }));
      if (text.length <= this.#limits.maxCharacters) await this.#folder.write(fileOf(id), text);
      else
        this.#folder.note(`The report of ${kept.entry.agentName} is too large to be kept after a restart.`);
      for (const each of removed) await this.#folder.remove(fileOf(each));
    });
    return kept.entry;
  }
}

const fileOf = (id: string): string => `${subfolder}/${id}.json`;

function ofRun(id: string, agentId: string, report: ConformanceReport): KeptReport {
  const { agentName, testDate, conformanceLevel: level, unreachable } = report;
  const entry = { id, agentId, agentName, testDate, ...(unreachable === undefined && { level }) };
  return { entry: { ...entry, isUploaded: false }, results: listResults(report), report };
}

function uploaded(
  id: string,
  { agentName, testDate, conformanceLevel, categories }: UploadedReport,
): KeptReport {
  const entry = { id, agentName, testDate, level: conformanceLevel, isUploaded: true };
  return { entry, results: Object.values(categories).flat() };
}
