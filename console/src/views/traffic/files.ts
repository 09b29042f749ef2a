import type { TrafficRecord } from '../../../../src/tap/traffic-record.ts';
import { download } from '../../components/download.ts';
import { requestApi, requestJson } from '../../session/api-client.ts';
import { showFile } from './state.ts';

/** Saves what the server keeps as the file of a tap. */
export async function exportFile(): Promise<void> {
  const response = await requestApi('wire/file');
  download(await response.blob(), nameOf(response) ?? 'wire.tap.jsonl');
}

/** Opens the file of a tap and shows it instead of what passes now. */
export async function importFile(file: File): Promise<void> {
  const { passages } = await requestJson<{ passages: TrafficRecord[] }>('wire/file', {
    method: 'POST',
    text: await file.text(),
  });
  showFile({ name: file.name, passages });
}

/** Saves passages as a scenario that a test agent can play. */
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
