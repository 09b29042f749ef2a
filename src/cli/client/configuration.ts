import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Command, Option } from 'commander';
import type { ClientFlags } from './flags.ts';
import { settingFlags } from './flags.ts';
import { ClientError } from './client-error.ts';

/** Where a value came from. */
export type SettingSource = 'flag' | 'environment' | { file: string } | 'default';

/** A value, and where it came from. */
export interface Setting {
  /** The flag without its dashes. */
  name: string;
  variable: string;
  value: unknown;
  source: SettingSource;
  /** What happens where there is no value, in words. */
  otherwise: string | undefined;
}

/** What a command is to go by. */
export interface ClientConfiguration {
  flags: ClientFlags;
  settings: Setting[];
  /** What is not as it should be, but no reason to stop. */
  warnings: string[];
}

/** Where configuration and tokens of this person are. */
export function configurationFolder(): string {
  return join(homedir(), '.config', 'a2a-cli');
}

/** True for settings whose value nobody may see. */
export function isSecretSetting(name: string): boolean {
  return ['bearer', 'api-key', 'client-secret', 'svc-param'].includes(name);
}

/**
 * Fills in what was not said on the command line: from the environment, a local file, the file of this person, in
 * that order.
 */
export function resolveConfiguration(
  command: Command,
  env: NodeJS.ProcessEnv = process.env,
): ClientConfiguration {
  const flags = command.opts<ClientFlags>();
  const warnings: string[] = [];
  const files = filesFor(flags.config ?? env.A2ACLI_CONFIG, warnings);
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
      const found = [{ values: env, source: 'environment' as const }, ...files].find(
        ({ values }) => (values[variable] ?? '') !== '',
      );
      if (found) {
        source = found.source;
        command.setOptionValueWithSource(key, valueOf(option, found.values[variable] ?? '', variable), 'env');
      }
    }
    const [, inWords] = /\(default: (.*)\)/.exec(option.description) ?? [];
    const otherwise = option.defaultValueDescription ?? inWords;
    settings.push({ name, variable, value: command.getOptionValue(key), source, otherwise });
  }
  return { flags: settled(command), settings, warnings };
}

/** What was said on the command line about waiting is stronger than what is configured about it. */
function settled(command: Command): ClientFlags {
  const flags = command.opts<ClientFlags>();
  const said = (key: string) => command.getOptionValueSource(key) === 'cli';
  const saysAsync = said('async') || said('returnImmediately') || (said('wait') && flags.wait === false);
  const saysWait = said('wait') && flags.wait === true;
  if (saysAsync && saysWait)
    throw new ClientError('A2ACLI_ERR_USAGE', '--wait and --async contradict each other', 'Say one of them.');
  if (saysAsync) return { ...flags, async: true, wait: false };
  if (saysWait) return { ...flags, async: false, wait: true };
  return flags;
}

interface File {
  values: { readonly [variable: string]: string | undefined };
  source: { file: string };
}

function filesFor(given: string | undefined, warnings: string[]): File[] {
  const global = join(configurationFolder(), '.env');
  const local = given === undefined ? nearest(process.cwd()) : resolve(given);
  const files: File[] = [];
  for (const path of new Set([local, global])) {
    if (path === undefined) continue;
    const text = textOf(path, path === local && given !== undefined);
    if (text === undefined) continue;
    const values = readEnvironmentFile(text);
    files.push({ values, source: { file: path } });
    const holdsSecret = Object.keys(values).some((each) =>
      /^A2ACLI_(BEARER|API_KEY|CLIENT_SECRET)$/.test(each),
    );
    if (holdsSecret && process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0)
      warnings.push(`${path} holds a secret and others can read it: chmod 600 ${path}`);
  }
  return files;
}

function nearest(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const path = join(at, '.env');
    if (statSync(path, { throwIfNoEntry: false })?.isFile()) return path;
    if (dirname(at) === at) return undefined;
  }
}

function textOf(path: string, isNamed: boolean): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    if (!isNamed) return undefined;
    throw new ClientError('A2ACLI_ERR_USAGE', `${path} cannot be read`, 'Give --config an .env file.', cause);
  }
}

/** Reads `A2ACLI_NAME=value` lines; whatever else is in the file is no business of this command. */
function readEnvironmentFile(text: string): { [variable: string]: string } {
  const values: { [variable: string]: string } = {};
  for (const line of text.split(/\r?\n/)) {
    const [, name, raw = ''] = /^\s*(?:export\s+)?(A2ACLI_[A-Z0-9_]+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (name === undefined) continue;
    const quoted = /^(["'])(.*)\1(?:\s+#.*)?$/.exec(raw);
    values[name] = quoted ? (quoted[2] ?? '') : raw.replace(/\s+#.*$/, '');
  }
  return values;
}

function valueOf(option: Option, text: string, variable: string): unknown {
  try {
    if (option.isBoolean()) return truthOf(text);
    if (option.argChoices && !option.argChoices.includes(text))
      throw new Error(`It is one of ${option.argChoices.join(', ')}.`);
    const parse = option.parseArg as ((text: string, before: unknown) => unknown) | undefined;
    return parse ? parse(text, Array.isArray(option.defaultValue) ? [] : undefined) : text;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : '';
    throw new ClientError('A2ACLI_ERR_USAGE', `${variable} is not as it should be`, why);
  }
}

function truthOf(text: string): boolean {
  if (/^(1|true|yes|on)$/i.test(text)) return true;
  if (/^(0|false|no|off)$/i.test(text)) return false;
  throw new Error('It is true or false.');
}
