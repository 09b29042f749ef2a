import type { Metrics } from '../metrics/metrics.ts';
import type { LogSink } from '../primitives/log.ts';
import { A2AError } from '../protocol/errors.ts';
import { hasProvider } from '../tracing/tracing.ts';
import { metricProducer } from './metric-producer.ts';
import type { OtlpSettings } from './otlp-settings.ts';

/** The packages of the OpenTelemetry SDK that the export needs, in versions for Node 20 and later. */
const packages = [
  '@opentelemetry/api@1',
  '@opentelemetry/resources@2',
  '@opentelemetry/sdk-trace-node@2',
  '@opentelemetry/sdk-metrics@2',
  '@opentelemetry/exporter-trace-otlp-proto@0.223',
  '@opentelemetry/exporter-metrics-otlp-proto@0.223',
];

/** Sends traces and metrics to a collector. */
export interface OtlpExport {
  /** Sends these metrics at intervals. */
  exportMetrics(metrics: Metrics): void;
  /** Sends what is pending and stops, within a few seconds. */
  stop(): Promise<void>;
}

/**
 * Starts the export of traces. Agents, servers and clients that are created later are traced.
 *
 * @throws {@link A2AError} `UNAVAILABLE` if a package is not installed
 */
export async function openOtlp(settings: OtlpSettings, log: LogSink): Promise<OtlpExport> {
  const { api, resources, traces, metrics, TraceExporter, MetricExporter } = await loadLibraries();
  // A collector that does not respond is reported here; the exporters retry.
  const report =
    (level: 'warn' | 'error') =>
    (text: string): void =>
      log({ level, message: `OpenTelemetry export: ${text.slice(0, 500)}` });
  api.diag.setLogger(
    { error: report('error'), warn: report('warn'), info: () => {}, debug: () => {}, verbose: () => {} },
    { logLevel: api.DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const named = resources.resourceFromAttributes({ 'service.name': settings.serviceName });
  const detected = resources.detectResources({ detectors: [resources.envDetector] });
  const resource = resources.defaultResource().merge(named).merge(detected);
  const stops: (() => Promise<void>)[] = [];
  // A program that is loaded with `node --import` may have set up OpenTelemetry itself.
  if (settings.hasTraces && !hasProvider()) {
    const exporter = new TraceExporter(settings.urls && { url: settings.urls.traces });
    const provider = new traces.NodeTracerProvider({
      resource,
      spanProcessors: [new traces.BatchSpanProcessor(exporter)],
    });
    provider.register();
    stops.push(() => provider.shutdown());
  }
  return {
    exportMetrics({ registry }) {
      if (!settings.hasMetrics) return;
      const exporter = new MetricExporter(settings.urls && { url: settings.urls.metrics });
      const library = { ...metrics, DOUBLE: api.ValueType.DOUBLE, emptyResource: resources.emptyResource };
      const reader = new metrics.PeriodicExportingMetricReader({
        exporter,
        exportIntervalMillis: settings.metricInterval,
        exportTimeoutMillis: Math.min(settings.metricInterval, 30_000),
        metricProducers: [metricProducer(registry, library, { startedAt: Date.now(), now: Date.now })],
      });
      const provider = new metrics.MeterProvider({ resource, readers: [reader] });
      stops.push(() => provider.shutdown({ timeoutMillis: 5_000 }));
    },
    async stop() {
      await Promise.allSettled(stops.map((stop) => stop()));
    },
  };
}

async function loadLibraries() {
  try {
    // Bundlers accept a library that is not installed only inside of `try`.
    const [api, resources, traces, metrics, { OTLPTraceExporter }, { OTLPMetricExporter }] =
      await Promise.all([
        import('@opentelemetry/api'),
        import('@opentelemetry/resources'),
        import('@opentelemetry/sdk-trace-node'),
        import('@opentelemetry/sdk-metrics'),
        import('@opentelemetry/exporter-trace-otlp-proto'),
        import('@opentelemetry/exporter-metrics-otlp-proto'),
      ]);
    return {
      api,
      resources,
      traces,
      metrics,
      TraceExporter: OTLPTraceExporter,
      MetricExporter: OTLPMetricExporter,
    };
  } catch (cause) {
    throw new A2AError('UNAVAILABLE', 'Sending telemetry to a collector requires the OpenTelemetry SDK', {
      cause,
      hint: `Run npm install ${packages.join(' ')}.`,
    });
  }
}
