import * as z from 'zod';
import type { ConformanceReport } from '../../conformance/report/build-report.ts';
import { parseJsonOrUndefined } from '../../primitives/json.ts';
import { uploadedReportSchema } from '../routes/request-schemas.ts';

/** An uploaded report, of which only the verdicts are kept. */
export type UploadedReport = z.infer<typeof uploadedReportSchema>;

/** The content of a file: the report of a run, or the verdicts of an uploaded one. */
export type ReportFileContent =
  | { readonly agentId: string; readonly run: ConformanceReport }
  | { readonly uploaded: UploadedReport };

type ReportFile = { readonly id: string } & ReportFileContent;

const header = { format: 'dragoman-report', version: 1 } as const;

const result = z.looseObject({
  ...uploadedReportSchema.shape.categories.valueType.element.shape,
  level: z.enum(['MUST', 'SHOULD', 'MAY']),
  category: z.enum(['agent-card', 'lifecycle', 'streaming', 'error-handling', 'interop']),
  section: z.string(),
  rule: z.string(),
  remediation: z.string(),
  requirements: z.array(z.string()),
  observations: z.number(),
});
const results = z.array(result);

/** The members that the page and the report formats read. The others are those that this console wrote. */
const runSchema = z.looseObject({
  ...uploadedReportSchema.shape,
  agentUrl: z.string(),
  agentVersion: z.string(),
  summary: z.record(z.string(), z.number()),
  categories: z.object({
    agentCard: results,
    lifecycle: results,
    streaming: results,
    errorHandling: results,
    interop: results,
  }),
  warnings: z.array(z.string()),
  variants: z.array(z.looseObject({ version: z.string(), transport: z.string(), url: z.string() })),
  cards: z.array(z.looseObject({ url: z.string(), version: z.string(), card: z.looseObject({}) })),
  provenance: z.looseObject({
    suite: z.string(),
    command: z.string(),
    messages: z.number(),
    requests: z.number(),
    duration_ms: z.number(),
  }),
});

const head = {
  format: z.literal(header.format),
  version: z.literal(header.version),
  id: z.string().regex(/^[\w-]{1,64}$/),
};
const fileSchema = z.union([
  z.object({ ...head, agentId: z.string(), run: runSchema }),
  z.object({ ...head, uploaded: uploadedReportSchema }),
]);

/** Returns the text of the file of a report. */
export function formatReportFile(file: ReportFile): string {
  return `${JSON.stringify({ ...header, ...file })}\n`;
}

/** Reads the file of a report. @returns undefined if it is damaged */
export function readReportFile(text: string): ReportFile | undefined {
  const { data } = fileSchema.safeParse(parseJsonOrUndefined(text));
  return data as ReportFile | undefined;
}
