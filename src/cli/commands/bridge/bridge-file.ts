import { readBridgeConfig } from '../../../bridge/bridge-config.ts';
import { openAgent, type OpenedAgent } from '../../../bridge/open-agent.ts';
import type { LogSink } from '../../../primitives/log.ts';
import { readValidFile } from '../../terminal/print-diagnostics.ts';
import { readInputFile } from '../../inputs/read-input-file.ts';

/** Opens the agents of a bridge file and starts those with a command. */
export function openBridgeFile(file: string, log: LogSink): OpenedAgent[] {
  const text = readInputFile(file, 'Name a bridge file with --config FILE.');
  const configs = readValidFile(() => readBridgeConfig(text, file, process.env));
  return configs.map((config) => openAgent(config, { supervise: { log } }));
}
