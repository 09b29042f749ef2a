import type { TrafficRecord } from '../../../../src/tap/traffic-record.ts';
import { download } from '../../components/download.ts';
import { requestApi, requestJson } from '../../session/api-client.ts';
import { showFile } from './state.ts';

/** Downloads the traffic log of the server as a traffic file. */
export async function exportFile(): Promise<void> {
  const response = await requestApi('traffic/file');
  download(await response.blob(), nameOf(response) ?? 'traffic.tap.jsonl');
}

/** Opens a traffic file or HTTP archive instead of the live traffic. The server keeps it as a recording. */
export async function importFile(file: File): Promise<void> {
  const path = `traffic/file?name=${encodeURIComponent(file.name)}`;
  const { records } = await requestJson<{ records: TrafficRecord[] }>(path, {
    method: 'POST',
    text: await file.text(),
  });
  showFile({ name: file.name, records });
}

/** Downloads records as an HTTP archive. */
export async function saveHar(records: readonly TrafficRecord[]): Promise<void> {
  const response = await requestApi('traffic/har', { method: 'POST', body: { records } });
  download(await response.blob(), nameOf(response) ?? 'traffic.har');
}

/** Exports records as a scenario. */
export async function saveScenario(records: readonly TrafficRecord[], name: string): Promise<void> {
  const { yaml } = await requestJson<{ yaml: string }>('traffic/scenario', {
    method: 'POST',
    body: { records },
  });
  download(new Blob([yaml], { type: 'application/yaml' }), `${name}.yaml`);
}

function nameOf(response: Response): string | undefined {
  return /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1];
}
