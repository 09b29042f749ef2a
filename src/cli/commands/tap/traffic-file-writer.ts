import { once } from 'node:events';
import { createWriteStream, statSync } from 'node:fs';
import { trafficFileHeader, formatTrafficFileLine } from '../../../tap/traffic-file.ts';
import type { TrafficRecord } from '../../../tap/traffic-record.ts';
import { UsageError, errorSummary } from '../../terminal/usage-error.ts';

/** How much may wait for the disk before passages are left out, in bytes. */
const maxWaiting = 64 * 1_024 * 1_024;

/** A file that grows while something passes. */
export interface TrafficFileWriter {
  add(passage: TrafficRecord): void;
  /** Waits until everything is written. */
  close(): Promise<void>;
}

/** Opens a file to add passages to. What is in it stays. Only its owner may read it. */
export async function openTrafficFile(file: string): Promise<TrafficFileWriter> {
  const stream = createWriteStream(file, { flags: 'a', mode: 0o600 });
  try {
    await once(stream, 'open');
  } catch (cause) {
    throw new UsageError(`${file} cannot be written`, 'Name a file in a directory that is there.', cause);
  }
  if (statSync(file).size === 0) stream.write(trafficFileHeader);
  let isBroken = false;
  let missed = 0;
  stream.on('error', (error) => {
    isBroken = true;
    process.stderr.write(`dragoman: nothing more is written to ${file}: ${errorSummary(error)}\n`);
  });
  return {
    add(passage) {
      if (isBroken) return;
      if (stream.writableLength > maxWaiting) missed++;
      else stream.write(formatTrafficFileLine(passage));
    },
    async close() {
      if (missed > 0)
        process.stderr.write(
          `dragoman: ${missed} passages are not in ${file}, because the disk was too slow\n`,
        );
      if (isBroken) return;
      stream.end();
      await once(stream, 'close');
    },
  };
}
