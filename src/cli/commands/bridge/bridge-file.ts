import { readBridgeConfig } from '../../../bridge/bridge-config.ts';
import { openAgent, type OpenedAgent } from '../../../bridge/open-agent.ts';
import { DocumentError } from '../../../documents/diagnostic.ts';
import type { Log } from '../../../primitives/log.ts';
import { wrongFile } from '../../terminal/print-diagnostics.ts';
import { textOfFile } from '../../inputs/read-input-file.ts';

/** Opens the agents of the file of a bridge: those with a command are started. */
export function openBridgeFile(file: string, log: Log): OpenedAgent[] {
  try {
    const text = textOfFile(file, 'Name the file of a bridge with --config.');
    const configs = readBridgeConfig(text, file, process.env);
    return configs.map((config) => openAgent(config, { supervise: { log } }));
  } catch (thrown) {
    throw thrown instanceof DocumentError ? wrongFile(thrown) : thrown;
  }
}
