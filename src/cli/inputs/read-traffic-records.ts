import { A2AError } from '../../protocol/errors.ts';
import { readTrafficFile } from '../../tap/traffic-file.ts';
import type { TrafficRecord } from '../../tap/traffic-record.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { readInputFile } from './read-input-file.ts';

/** Reads a file of `dragoman tap --record`. @throws UsageError if it is not one. */
export function readTrafficRecords(file: string): TrafficRecord[] {
  const hint = 'Name a file that dragoman tap --record has written.';
  const text = readInputFile(file, hint);
  try {
    return readTrafficFile(text);
  } catch (thrown) {
    throw new UsageError(`Invalid file: ${file}`, hint, {
      places: [`${file}: ${A2AError.from(thrown).message}`],
    });
  }
}
