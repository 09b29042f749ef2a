import type { StreamEvent } from '../../protocol/event.ts';
import { formatValue } from './format-value.ts';
import { joinTextParts } from './request-capture.ts';

/** Formats an event as one line, in the form of {@link ExpectedEvent}. */
export function formatEvent(event: StreamEvent): string {
  switch (event.kind) {
    case 'message':
      return `message ${formatValue(joinTextParts(event.message))}`;
    case 'task':
      return `task ${event.task.status.state}${formatStatusText(event.task.status)}`;
    case 'status':
      return `${event.status.state}${formatStatusText(event.status)}`;
    case 'artifact': {
      const { artifact, append, lastChunk } = event;
      const flags = [...(append ? ['append'] : []), ...(lastChunk ? ['lastChunk'] : [])];
      const suffix = flags.length > 0 ? ` (${flags.join(', ')})` : '';
      return `artifact ${artifact.name ?? artifact.artifactId} ${formatValue(joinTextParts(artifact))}${suffix}`;
    }
  }
}

/** Formats the error of a stream as one line. */
export function formatStreamError(error: Error): string {
  return `error ${'reason' in error ? String(error.reason) : error.name}: ${error.message}`;
}

function formatStatusText({ message }: { readonly message?: { readonly parts: readonly object[] } }): string {
  return message ? ` ${formatValue(joinTextParts(message))}` : '';
}
