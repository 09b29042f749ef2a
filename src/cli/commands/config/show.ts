import type { Command } from 'commander';
import { isSecretSetting, type Setting, type SettingSource } from '../../client/configuration.ts';
import { runClientCommand } from '../../client/session.ts';
import { ClientOutput } from '../../client/output.ts';

/** Shows what the client commands would go by. */
export async function runConfigShowCommand(command: Command): Promise<void> {
  await runClientCommand(command, async ({ flags, settings }) => {
    const out = new ClientOutput(flags);
    if (out.isJson) {
      out.json({
        settings: settings.map((each) => ({
          name: each.name,
          variable: each.variable,
          value: shown(each) ?? null,
          source: wordFor(each.source),
        })),
      });
      return;
    }
    for (const each of settings) {
      const value = shown(each);
      const text =
        value === undefined ? '(not set)' : typeof value === 'string' ? value : JSON.stringify(value);
      out.field(each.name, `${text} [${wordFor(each.source)}]`);
    }
  });
}

function shown({ name, value, source, otherwise }: Setting): unknown {
  const isSet = value !== undefined && !(Array.isArray(value) && value.length === 0);
  if (!isSet || source === 'default') return otherwise ?? (isSet ? value : undefined);
  if (isSecretSetting(name)) return '(set)';
  return name === 'timeout' || name === 'poll-interval' ? `${Number(value)}ms` : value;
}

function wordFor(source: SettingSource): string {
  return typeof source === 'string' ? source : `file ${source.file}`;
}
