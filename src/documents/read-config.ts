import { type Diagnostic, DocumentError } from './diagnostic.ts';
import { Document } from './document.ts';
import { interpolateVariables } from './interpolate.ts';
import type { DocumentPath } from './schema-issues.ts';

/** Collects what is wrong beside the form of a file. */
export type ReportDiagnostic = (path: DocumentPath, message: string) => void;

/** Where the values of names come from. */
export type EnvironmentVariables = { readonly [name: string]: string | undefined };

/**
 * Reads a file in which names of the environment are filled in, and tells all that is wrong with it at once.
 *
 * @param read - makes something of the values; what it complains about is told.
 * @param isOurs - whether a name that is not set, at some place, is any concern of the reader. @defaultValue always
 * @throws DocumentError with the place of everything that is wrong.
 */
export function readConfigDocument<Read>(
  text: string,
  file: string,
  environment: EnvironmentVariables,
  read: (document: Document, filled: unknown, complain: ReportDiagnostic) => Read,
  isOurs: (path: DocumentPath) => boolean = () => true,
): Read {
  const document = Document.parse(text, file);
  const complaints: Diagnostic[] = [];
  const complain: ReportDiagnostic = (path, message) => complaints.push(document.diagnostic(path, message));
  const filled = interpolateVariables(document.value, environment, (path, name) => {
    if (isOurs(path)) complain(path, `${name} is not set, and there is no default`);
  });
  // What is not set is empty, and would be complained about twice.
  if (complaints.length > 0) throw new DocumentError(file, complaints);
  const made = read(document, filled, complain);
  if (complaints.length > 0) throw new DocumentError(file, complaints);
  return made;
}
