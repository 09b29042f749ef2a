import { type Diagnostic, DocumentError } from './diagnostic.ts';
import { Document } from './document.ts';
import { interpolateVariables } from './interpolate.ts';
import type { DocumentPath } from './schema-issues.ts';

/** Reports an error that the schema cannot express. */
export type ReportDiagnostic = (path: DocumentPath, message: string) => void;

/** Environment variables by name. */
export type EnvironmentVariables = { readonly [name: string]: string | undefined };

/**
 * Reads a configuration file with environment variables and reports all its errors together.
 *
 * @param read - converts the interpolated values; may report further errors.
 * @param isRequired - whether a missing variable at a path is an error. @defaultValue always
 * @throws {@link DocumentError}
 */
export function readConfigDocument<Read>(
  text: string,
  file: string,
  environment: EnvironmentVariables,
  read: (document: Document, values: unknown, report: ReportDiagnostic) => Read,
  isRequired: (path: DocumentPath) => boolean = () => true,
): Read {
  const document = Document.parse(text, file);
  const diagnostics: Diagnostic[] = [];
  const report: ReportDiagnostic = (path, message) => diagnostics.push(document.diagnostic(path, message));
  const values = interpolateVariables(document.value, environment, (path, name) => {
    if (isRequired(path)) report(path, `environment variable ${name} is not set and has no default`);
  });
  const missing = new Set(diagnostics.map(positionOf));
  // A missing variable is an empty text, which the schema may report again.
  const isNew = (each: Diagnostic): boolean => !missing.has(positionOf(each));
  try {
    const result = read(document, values, (path, message) => {
      const diagnostic = document.diagnostic(path, message);
      if (isNew(diagnostic)) diagnostics.push(diagnostic);
    });
    if (diagnostics.length === 0) return result;
  } catch (error) {
    if (error instanceof DocumentError) diagnostics.push(...error.diagnostics.filter(isNew));
    else if (missing.size === 0) throw error;
  }
  throw new DocumentError(file, diagnostics);
}

function positionOf({ line, column }: Diagnostic): string {
  return `${line}:${column}`;
}
