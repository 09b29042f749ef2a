import { A2AError } from '../../protocol/errors.ts';
import { readTraffic } from '../../tap/har/read-traffic.ts';
import type { TrafficRecord } from '../../tap/traffic-record.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { readInputFile } from './read-input-file.ts';

/** Reads a file of `dragoman tap --record`, or an HTTP archive. @throws UsageError if it is neither. */
export function readTrafficRecords(file: string): TrafficRecord[] {
  const hint = 'Name a file that dragoman tap --record has written, or an HTTP archive (HAR).';
  const text = readInputFile(file, hint);
  try {
    return readTraffic(text);
  } catch (thrown) {
    throw new UsageError(`Invalid file: ${file}`, hint, {
      places: [`${file}: ${A2AError.from(thrown).message}`],
    });
  }
}
