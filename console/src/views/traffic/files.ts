import type { TrafficRecord } from '../../../../src/tap/traffic-record.ts';
import { download } from '../../components/download.ts';
import { requestApi, requestJson } from '../../session/api-client.ts';
import { showFile } from './state.ts';

/** Downloads the traffic log of the server as a traffic file. */
export async function exportFile(): Promise<void> {
  const response = await requestApi('wire/file');
  download(await response.blob(), nameOf(response) ?? 'wire.tap.jsonl');
}

/** Opens a traffic file instead of the live traffic. */
export async function importFile(file: File): Promise<void> {
  const { passages } = await requestJson<{ passages: TrafficRecord[] }>('wire/file', {
    method: 'POST',
    text: await file.text(),
  });
  showFile({ name: file.name, passages });
}

/** Exports records as a scenario. */
export async function saveScenario(passages: readonly TrafficRecord[], name: string): Promise<void> {
  const { yaml } = await requestJson<{ yaml: string }>('wire/scenario', {
    method: 'POST',
    body: { passages },
  });
  download(new Blob([yaml], { type: 'application/yaml' }), `${name}.yaml`);
}

function nameOf(response: Response): string | undefined {
  return /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1];
}
