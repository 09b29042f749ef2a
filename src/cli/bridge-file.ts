import { readFileSync } from 'node:fs';
import { readBridgeConfig } from '../bridge/config.ts';
import { openAgent, type OpenedAgent } from '../bridge/open-agent.ts';
import { DocumentError } from '../documents/complaint.ts';
import type { Log } from '../protocol/log.ts';
import { tellComplaints } from './complaints.ts';
import { Mistake } from './mistake.ts';

/** Opens the agents of the file of a bridge: those with a command are started. */
export function openBridgeFile(file: string, log: Log): OpenedAgent[] {
  try {
    const configs = readBridgeConfig(textOf(file), file, process.env);
    return configs.map((config) => openAgent(config, { supervise: { log } }));
  } catch (thrown) {
    if (!(thrown instanceof DocumentError)) throw thrown;
    tellComplaints(thrown, process.stderr);
    throw new Mistake('the file of the bridge is not as it should be', 'Nothing was started.');
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new Mistake(`${file} cannot be read`, 'Name the file of a bridge with --config.', cause);
  }
}
