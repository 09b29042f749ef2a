import { once } from 'node:events';
import { createWriteStream, statSync } from 'node:fs';
import { trafficFileHeader, formatTrafficFileLine } from '../../../tap/traffic-file.ts';
import type { TrafficRecord } from '../../../tap/traffic-record.ts';
import { cannotWriteError } from '../../inputs/write-output-file.ts';
import { printWarning } from '../../terminal/print-error.ts';
import { errorSummary } from '../../terminal/usage-error.ts';

/** Maximum buffered output for a slow disk, in bytes. More records are dropped. */
const maxBufferedBytes = 64 * 1_024 * 1_024;

/** Appends traffic records to a file. */
export interface TrafficFileWriter {
  add(record: TrafficRecord): void;
  /** Resolves when all records are written. */
  close(): Promise<void>;
}

/** Opens a traffic file for appending. A new file gets mode 0600. */
export async function openTrafficFile(file: string): Promise<TrafficFileWriter> {
  const stream = createWriteStream(file, { flags: 'a', mode: 0o600 });
  try {
    await once(stream, 'open');
  } catch (cause) {
    throw cannotWriteError(file, cause);
  }
  if (statSync(file).size === 0) stream.write(trafficFileHeader);
  let hasFailed = false;
  let dropped = 0;
  stream.on('error', (error) => {
    hasFailed = true;
    printWarning(`Stopped writing to ${file}: ${errorSummary(error)}`);
  });
  return {
    add(record) {
      if (hasFailed) return;
      if (stream.writableLength > maxBufferedBytes) dropped++;
      else stream.write(formatTrafficFileLine(record));
    },
    async close() {
      if (dropped > 0) printWarning(`${dropped} records are missing in ${file}: the disk was too slow`);
      if (hasFailed) return;
      stream.end();
      await once(stream, 'close');
    },
  };
}
