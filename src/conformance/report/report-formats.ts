import { formatBadge } from './badge.ts';
import { htmlReport } from './html.ts';
import { junitReport } from './junit.ts';
import { markdownReport } from './markdown.ts';
import type { ConformanceReport } from './build-report.ts';
import { sarifReport } from './sarif.ts';

/** The forms that a report can have. */
export const reportFormats = ['json', 'markdown', 'junit', 'html', 'sarif', 'badge'] as const;

/** A form that a report can have. */
export type ReportFormat = (typeof reportFormats)[number];

/** What a file of each form is called where nobody names it. */
export const reportFileNames: { readonly [form in ReportFormat]: string } = {
  json: 'conformance.json',
  markdown: 'conformance.md',
  junit: 'conformance.xml',
  html: 'conformance.html',
  sarif: 'conformance.sarif',
  badge: 'conformance.svg',
};

const writers: { readonly [form in ReportFormat]: (report: ConformanceReport) => string } = {
  json: (report) => `${JSON.stringify(report, undefined, 2)}\n`,
  markdown: markdownReport,
  junit: junitReport,
  html: htmlReport,
  sarif: sarifReport,
  badge: formatBadge,
};

/** The report in a form. */
export function writeReport(report: ConformanceReport, form: ReportFormat): string {
  return writers[form](report);
}
