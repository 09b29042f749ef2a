import type { OtlpExport } from '../../otlp/open-otlp.ts';
import { readOtlpSettings } from '../../otlp/otlp-settings.ts';
import type { LogSink } from '../../primitives/log.ts';
import { A2AError } from '../../protocol/errors.ts';
import { UsageError } from '../terminal/usage-error.ts';

/**
 * Starts the export of telemetry if `--otlp` or the environment names a collector. Call it before agents are loaded: only later
 * ones are traced.
 *
 * @throws UsageError if the flag cannot be fulfilled. A variable, which may be set for other programs, causes a warning.
 */
export async function exportTelemetry(
  url: string | undefined,
  serviceName: string,
  log: LogSink,
): Promise<OtlpExport | undefined> {
  try {
    const settings = readOtlpSettings(url, process.env, serviceName);
    return settings && (await (await import('../../otlp/open-otlp.ts')).openOtlp(settings, log));
  } catch (thrown) {
    const { message, hint = '' } = A2AError.from(thrown);
    if (url !== undefined) throw new UsageError(`--otlp: ${message}`, hint);
    log({ level: 'warn', message: `No telemetry is exported: ${message}. ${hint}` });
    return undefined;
  }
}
