import type { DocumentError } from '../documents/complaint.ts';
import { coloursFor } from './colours.ts';

/** Writes one line for each complaint about a file; the place is told apart from the words. */
export function tellComplaints({ message }: DocumentError, output: NodeJS.WriteStream): void {
  const { cyan } = coloursFor(output);
  for (const line of message.split('\n'))
    output.write(`${line.replace(/^.*?:\d+:\d+:/, (place) => cyan(place))}\n`);
}
