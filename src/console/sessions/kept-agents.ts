import * as z from 'zod';
import { parseJsonOrUndefined } from '../../primitives/json.ts';
import type { SessionFolder } from './session-folder.ts';

const path = 'agents.json';
const maxBytes = 1_024 * 1_024;
const schema = z.object({
  format: z.literal('dragoman-agents'),
  version: z.literal(1),
  agents: z.array(z.object({ url: z.url({ protocol: /^https?$/ }) })).max(1_000),
});

/** Reads the agents that the user added in earlier runs. */
export async function readKeptAgents(folder: SessionFolder): Promise<{ url: string }[]> {
  const text = await folder.read(path, maxBytes);
  if (text === undefined) return [];
  const { data } = schema.safeParse(parseJsonOrUndefined(text));
  if (!data) folder.reportDamage(path, 'its form is unknown');
  return data?.agents ?? [];
}

/** Writes the agents that the user added. URLs with a password or token are left out, and so are credentials. */
export async function writeKeptAgents(folder: SessionFolder, urls: readonly string[]): Promise<void> {
  const agents = urls.filter((url) => folder.redactor.redactUrl(url) === url).map((url) => ({ url }));
  await folder.write(path, `${JSON.stringify({ format: 'dragoman-agents', version: 1, agents })}\n`);
}
