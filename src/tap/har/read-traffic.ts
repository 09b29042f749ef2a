import { readTrafficFile } from '../traffic-file.ts';
import type { TrafficRecord } from '../traffic-record.ts';
import { isHar, readHar } from './read-har.ts';

/** Parses a traffic file or an HTTP archive; the content tells which. @throws {@link A2AError} `INVALID_PARAMS` */
export function readTraffic(text: string): TrafficRecord[] {
  return isHar(text) ? readHar(text) : readTrafficFile(text);
}
