import type { Passage } from '../../../../src/tap/traffic-record.ts';
import { download } from '../../components/download.ts';
import { ask, call } from '../../session/api-client.ts';
import { look } from './state.ts';

/** Saves what the server keeps as the file of a tap. */
export async function exportFile(): Promise<void> {
  const response = await ask('wire/file');
  download(await response.blob(), nameOf(response) ?? 'wire.tap.jsonl');
}

/** Opens the file of a tap and shows it instead of what passes now. */
export async function importFile(file: File): Promise<void> {
  const { passages } = await call<{ passages: Passage[] }>('wire/file', {
    method: 'POST',
    text: await file.text(),
  });
  look({ name: file.name, passages });
}

/** Saves passages as a scenario that a test agent can play. */
export async function saveScenario(passages: readonly Passage[], name: string): Promise<void> {
  const { yaml } = await call<{ yaml: string }>('wire/scenario', { method: 'POST', body: { passages } });
  download(new Blob([yaml], { type: 'application/yaml' }), `${name}.yaml`);
}

function nameOf(response: Response): string | undefined {
  return /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1];
}
