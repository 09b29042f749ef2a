import { formatBadge } from './badge.ts';
import { formatHtmlReport } from './html.ts';
import { formatJunitReport } from './junit.ts';
import { formatMarkdownReport } from './markdown.ts';
import type { ConformanceReport } from './build-report.ts';
import { formatSarifReport } from './sarif.ts';

/** All report formats. */
export const reportFormats = ['json', 'markdown', 'junit', 'html', 'sarif', 'badge'] as const;

/** Format of a report. */
export type ReportFormat = (typeof reportFormats)[number];

/** Default file name of each format. */
export const reportFileNames: { readonly [format in ReportFormat]: string } = {
  json: 'conformance.json',
  markdown: 'conformance.md',
  junit: 'conformance.xml',
  html: 'conformance.html',
  sarif: 'conformance.sarif',
  badge: 'conformance.svg',
};

const writers: { readonly [format in ReportFormat]: (report: ConformanceReport) => string } = {
  json: (report) => `${JSON.stringify(report, undefined, 2)}\n`,
  markdown: formatMarkdownReport,
  junit: formatJunitReport,
  html: formatHtmlReport,
  sarif: formatSarifReport,
  badge: formatBadge,
};

/** Serializes the report in the given format. */
export function writeReport(report: ConformanceReport, format: ReportFormat): string {
  return writers[format](report);
}
