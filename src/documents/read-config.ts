import { type Complaint, DocumentError } from './diagnostic.ts';
import { Document } from './document.ts';
import { fillIn } from './interpolate.ts';
import type { Path } from './schema-issues.ts';

/** Collects what is wrong beside the form of a file. */
export type Complain = (path: Path, message: string) => void;

/** Where the values of names come from. */
export type Environment = { readonly [name: string]: string | undefined };

/**
 * Reads a file in which names of the environment are filled in, and tells all that is wrong with it at once.
 *
 * @param read - makes something of the values; what it complains about is told.
 * @param isOurs - whether a name that is not set, at some place, is any concern of the reader. @defaultValue always
 * @throws DocumentError with the place of everything that is wrong.
 */
export function readFilled<Read>(
  text: string,
  file: string,
  environment: Environment,
  read: (document: Document, filled: unknown, complain: Complain) => Read,
  isOurs: (path: Path) => boolean = () => true,
): Read {
  const document = Document.parse(text, file);
  const complaints: Complaint[] = [];
  const complain: Complain = (path, message) => complaints.push(document.complaint(path, message));
  const filled = fillIn(document.value, environment, (path, name) => {
    if (isOurs(path)) complain(path, `${name} is not set, and there is no default`);
  });
  // What is not set is empty, and would be complained about twice.
  if (complaints.length > 0) throw new DocumentError(file, complaints);
  const made = read(document, filled, complain);
  if (complaints.length > 0) throw new DocumentError(file, complaints);
  return made;
}
