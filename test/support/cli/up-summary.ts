import type { RunningCommand } from './run-command.ts';

/** Output of `dragoman up -o json`. */
export interface UpSummary {
  console: string;
  gateway: string;
  mcp?: string;
  mesh?: { url: string; namespace: string };
  agents: { name: string; url: string; from: string; onlyVersion?: string; isOnMesh: boolean }[];
  try: string[];
}

/** Waits for the summary of `dragoman up -o json`. */
export async function readSummary(running: RunningCommand): Promise<UpSummary> {
  const [line] = await running.prints(/^\{.*\}\n/);
  return JSON.parse(line) as UpSummary;
}

/** Returns an agent of the summary by its name. */
export const findAgent = ({ agents }: UpSummary, name: string): UpSummary['agents'][number] => {
  const found = agents.find((each) => each.name === name);
  if (!found) throw new Error(`There is no ${name}`);
  return found;
};
