import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Command, Option } from 'commander';
import type { ClientFlags } from './flags.ts';
import { settingFlags } from './flags.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** Source of a setting. */
export type SettingSource = 'flag' | 'environment' | { file: string } | 'default';

/** A setting with its source. */
export interface Setting {
  /** Name of the flag without dashes. */
  name: string;
  variable: string;
  value: unknown;
  source: SettingSource;
  /** Description of the default, if the flag has one. */
  defaultText: string | undefined;
}

/** Resolved settings of a client command. */
export interface ClientConfiguration {
  flags: ClientFlags;
  settings: Setting[];
  warnings: string[];
}

/** Returns the directory of the user's configuration and tokens. */
export function configurationFolder(): string {
  return join(homedir(), '.config', 'a2a-cli');
}

/** Returns true for settings whose value must not be printed. */
export function isSecretSetting(name: string): boolean {
  return ['bearer', 'api-key', 'client-secret', 'svc-param'].includes(name);
}

/** Resolves the settings of a command: flag, environment variable, local .env file, global .env file, default. */
export function resolveConfiguration(
  command: Command,
  env: NodeJS.ProcessEnv = process.env,
): ClientConfiguration {
  const flags = command.opts<ClientFlags>();
  const warnings: string[] = [];
  const files = loadFiles(flags.config ?? env.A2ACLI_CONFIG, warnings);
  const known = new Map(settingFlags().map((option) => [option.long, option]));
  const settings: Setting[] = [];
  for (const option of command.options) {
    if (!known.has(option.long) && option.long !== '--client-id' && option.long !== '--client-secret')
      continue;
    const key = option.attributeName();
    const name = option.name();
    const variable = `A2ACLI_${name.replaceAll('-', '_').toUpperCase()}`;
    let source: SettingSource = 'default';
    if (command.getOptionValueSource(key) === 'cli') source = 'flag';
    else {
      const match = [{ values: env, source: 'environment' as const }, ...files].find(
        ({ values }) => (values[variable] ?? '') !== '',
      );
      if (match) {
        source = match.source;
        command.setOptionValueWithSource(
          key,
          parseValue(option, match.values[variable] ?? '', variable),
          'env',
        );
      }
    }
    const described = option.description.split('(default: ', 2)[1]?.split(')', 1)[0];
    const defaultText = option.defaultValueDescription ?? described;
    settings.push({ name, variable, value: command.getOptionValue(key), source, defaultText });
  }
  return { flags: resolveWaiting(command), settings, warnings };
}

/** A waiting flag of the command line overrides all configured ones: --wait, --async and their aliases. */
function resolveWaiting(command: Command): ClientFlags {
  const flags = command.opts<ClientFlags>();
  const isSet = (key: string) => command.getOptionValueSource(key) === 'cli';
  const isAsync = isSet('async') || isSet('returnImmediately') || (isSet('wait') && flags.wait === false);
  const isWaiting = isSet('wait') && flags.wait === true;
  if (isAsync && isWaiting)
    throw new UsageError('--wait and --async cannot be used together', 'Use one of them.');
  if (isAsync) return { ...flags, async: true, wait: false };
  if (isWaiting) return { ...flags, async: false, wait: true };
  return flags;
}

interface SettingsFile {
  values: { readonly [variable: string]: string | undefined };
  source: { file: string };
}

function loadFiles(named: string | undefined, warnings: string[]): SettingsFile[] {
  const global = join(configurationFolder(), '.env');
  const local = named === undefined ? findNearestFile(process.cwd()) : resolve(named);
  const files: SettingsFile[] = [];
  for (const path of new Set([local, global])) {
    if (path === undefined) continue;
    const text = readFile(path, path === local && named !== undefined);
    if (text === undefined) continue;
    const values = parseEnvironmentFile(text);
    files.push({ values, source: { file: path } });
    const hasSecret = Object.keys(values).some((each) =>
      /^A2ACLI_(BEARER|API_KEY|CLIENT_SECRET)$/.test(each),
    );
    if (hasSecret && process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0)
      warnings.push(`${path} contains a secret and is readable by other users; run chmod 600 ${path}`);
  }
  return files;
}

function findNearestFile(directory: string): string | undefined {
  for (let at = directory; ; at = dirname(at)) {
    const path = join(at, '.env');
    if (statSync(path, { throwIfNoEntry: false })?.isFile()) return path;
    if (dirname(at) === at) return undefined;
  }
}

function readFile(path: string, isRequired: boolean): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    if (!isRequired) return undefined;
    throw new UsageError(`Cannot read ${path}`, 'Name a .env file with --config.', { cause });
  }
}

/** Parses `A2ACLI_NAME=value` lines and ignores all others. */
function parseEnvironmentFile(text: string): { [variable: string]: string } {
  const values: { [variable: string]: string } = {};
  for (const line of text.split(/\r?\n/)) {
    const [, name, text = ''] = /^\s*(?:export\s+)?(A2ACLI_[A-Z0-9_]+)\s*=(.*)$/.exec(line) ?? [];
    if (name === undefined) continue;
    const raw = text.trim();
    const quoted = /^(?:"([^"]*)"|'([^']*)')(?:\s+#.*)?$/.exec(raw);
    const comment = raw.search(/\s#/);
    const plain = comment < 0 ? raw : raw.slice(0, comment).trimEnd();
    values[name] = quoted ? (quoted[1] ?? quoted[2] ?? '') : plain;
  }
  return values;
}

function parseValue(option: Option, text: string, variable: string): unknown {
  try {
    if (option.isBoolean()) return parseBoolean(text);
    if (option.argChoices && !option.argChoices.includes(text))
      throw new Error(`Use one of ${option.argChoices.join(', ')}.`);
    const parse = option.parseArg as ((text: string, before: unknown) => unknown) | undefined;
    return parse ? parse(text, Array.isArray(option.defaultValue) ? [] : undefined) : text;
  } catch (cause) {
    const hint = cause instanceof Error ? cause.message : '';
    throw new UsageError(`Invalid value of ${variable}`, hint);
  }
}

function parseBoolean(text: string): boolean {
  if (/^(1|true|yes|on)$/i.test(text)) return true;
  if (/^(0|false|no|off)$/i.test(text)) return false;
  throw new Error('Use true or false.');
}
