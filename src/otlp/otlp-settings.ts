import { stripTrailing } from '../primitives/text.ts';
import { A2AError, invalidField } from '../protocol/errors.ts';
import { parseUrl } from '../primitives/web/parse-url.ts';

/** Environment variables by name. */
type Environment = { readonly [name: string]: string | undefined };

/** What is sent to which collector. */
export interface OtlpSettings {
  /** URLs of the signals; undefined: as in the environment variables, which the exporters read themselves. */
  readonly urls: { readonly traces: string; readonly metrics: string } | undefined;
  readonly serviceName: string;
  readonly hasTraces: boolean;
  readonly hasMetrics: boolean;
  /** Milliseconds between two exports of metrics. */
  readonly metricInterval: number;
}

const endpoints = ['', '_TRACES', '_METRICS'].map((signal) => `OTEL_EXPORTER_OTLP${signal}_ENDPOINT`);
const protocols = ['', '_TRACES', '_METRICS'].map((signal) => `OTEL_EXPORTER_OTLP${signal}_PROTOCOL`);

/**
 * Reads the settings of OpenTelemetry from a URL and the environment variables of its specification.
 *
 * @returns undefined if neither names a collector, or if `OTEL_SDK_DISABLED` is true
 * @throws {@link A2AError} `INVALID_PARAMS`
 */
export function readOtlpSettings(
  url: string | undefined,
  environment: Environment,
  serviceName: string,
): OtlpSettings | undefined {
  const isNamed = (variable: string): boolean => (environment[variable] ?? '') !== '';
  if (environment.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return undefined;
  if (url === undefined && !endpoints.some(isNamed)) return undefined;
  for (const variable of protocols) checkProtocol(variable, environment[variable]);
  const isOn = (signal: string, variable: string): boolean =>
    environment[`OTEL_${signal}_EXPORTER`] !== 'none' &&
    (url !== undefined || isNamed('OTEL_EXPORTER_OTLP_ENDPOINT') || isNamed(variable));
  return {
    urls: url === undefined ? undefined : signalUrls(url),
    serviceName: environment.OTEL_SERVICE_NAME || serviceName,
    hasTraces: isOn('TRACES', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'),
    hasMetrics: isOn('METRICS', 'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT'),
    metricInterval: Number(environment.OTEL_METRIC_EXPORT_INTERVAL) || 60_000,
  };
}

function signalUrls(url: string): { traces: string; metrics: string } {
  const isHttp = ['http:', 'https:'].includes(parseUrl(url)?.protocol ?? '');
  if (!isHttp)
    throw invalidField('otlp', 'must be the http or https URL of a collector, such as http://localhost:4318');
  const base = stripTrailing(url, '/');
  return { traces: `${base}/v1/traces`, metrics: `${base}/v1/metrics` };
}

function checkProtocol(variable: string, protocol: string | undefined): void {
  if (protocol === undefined || protocol === '' || protocol === 'http/protobuf') return;
  throw new A2AError('INVALID_PARAMS', `${variable} is ${protocol}, which is not supported`, {
    hint: 'Unset it or set it to http/protobuf, and use the HTTP port of the collector, usually 4318.',
  });
}
