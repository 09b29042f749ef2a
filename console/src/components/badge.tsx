import type { ComponentChildren } from 'preact';
import type { TaskState } from '../../../src/protocol/task.ts';
import './badge.css';

/** Color tones; each has `-ink`, `-soft` and `-line` in the theme. */
export type BadgeTone = 'grey' | 'teal' | 'amber' | 'green' | 'red' | 'blue' | 'violet';

interface BadgeProps {
  tone?: BadgeTone;
  /** Shows a dot before the text; `beat` pulses. */
  dot?: boolean | 'beat';
  title?: string;
  children: ComponentChildren;
}

/** A short text in a colored pill. */
export function Badge({ tone = 'grey', dot = false, title, children }: BadgeProps) {
  const dots = dot === false ? '' : dot === 'beat' ? 'badge-dot badge-beat' : 'badge-dot';
  return (
    <span class={`badge badge-${tone} ${dots}`} title={title}>
      <span>{children}</span>
    </span>
  );
}

const versionTones: { readonly [version: string]: BadgeTone } = {
  '0.1': 'amber',
  '0.2': 'violet',
  '0.3': 'blue',
  '1.0': 'teal',
};

/** A protocol version, each with a fixed color. */
export function VersionBadge({ version }: { version: string }) {
  return (
    <Badge tone={versionTones[version] ?? 'grey'} title={`A2A ${version}`}>
      {version}
    </Badge>
  );
}

const transportNames: { readonly [transport: string]: string } = {
  JSONRPC: 'JSON-RPC',
  'HTTP+JSON': 'REST',
  GRPC: 'gRPC',
  mesh: 'mesh',
};

/** Display name of a transport. */
export const transportName = (transport: string): string => transportNames[transport] ?? transport;

export function TransportBadge({ transport }: { transport: string }) {
  return <Badge title={transport}>{transportName(transport)}</Badge>;
}

/** A protocol variant: version and transport. */
export function VariantBadge({ version, transport }: { version: string; transport: string }) {
  return (
    <Badge tone={versionTones[version] ?? 'grey'} title={`A2A ${version} over ${transport}`}>
      {version} {transportName(transport)}
    </Badge>
  );
}

/** Color of each task state. */
export const stateTones: { readonly [state in TaskState]: BadgeTone } = {
  unknown: 'grey',
  submitted: 'grey',
  working: 'blue',
  completed: 'green',
  failed: 'red',
  canceled: 'grey',
  'input-required': 'amber',
  rejected: 'red',
  'auth-required': 'violet',
};

export function StateBadge({ state }: { state: TaskState }) {
  return (
    <Badge tone={stateTones[state] ?? 'grey'} dot={state === 'working' ? 'beat' : true}>
      {state}
    </Badge>
  );
}

/** Severity of a finding. */
export function LevelBadge({ level }: { level: 'error' | 'warning' }) {
  return <Badge tone={level === 'error' ? 'red' : 'amber'}>{level}</Badge>;
}
