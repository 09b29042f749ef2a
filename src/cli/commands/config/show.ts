import type { Command } from 'commander';
import { isSecretSetting, type Setting, type SettingSource } from '../../client/configuration.ts';
import { runClientCommand } from '../../client/session.ts';
import { ClientOutput } from '../../client/output.ts';

/** Runs `dragoman config show`. */
export async function runConfigShowCommand(command: Command): Promise<void> {
  await runClientCommand(command, async ({ flags, settings }) => {
    const out = new ClientOutput(flags);
    if (out.isJson) {
      out.json({
        settings: settings.map((each) => ({
          name: each.name,
          variable: each.variable,
          value: displayValue(each) ?? null,
          source: formatSource(each.source),
        })),
      });
      return;
    }
    for (const each of settings) {
      const value = displayValue(each);
      const text =
        value === undefined ? '(not set)' : typeof value === 'string' ? value : JSON.stringify(value);
      out.field(each.name, `${text} [${formatSource(each.source)}]`);
    }
  });
}

function displayValue({ name, value, source, defaultText }: Setting): unknown {
  const isSet = value !== undefined && !(Array.isArray(value) && value.length === 0);
  if (!isSet || source === 'default') return defaultText ?? (isSet ? value : undefined);
  if (isSecretSetting(name)) return '(set)';
  return name === 'timeout' || name === 'poll-interval' ? `${Number(value)}ms` : value;
}

function formatSource(source: SettingSource): string {
  return typeof source === 'string' ? source : `file ${source.file}`;
}
