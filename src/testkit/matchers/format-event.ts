import type { StreamEvent } from '../../protocol/event.ts';
import { formatValue } from './format-value.ts';
import { joinTextParts } from './request-capture.ts';

/** An event in one line, in the words in which a gist describes it. */
export function formatEvent(event: StreamEvent): string {
  switch (event.kind) {
    case 'message':
      return `message ${formatValue(joinTextParts(event.message))}`;
    case 'task':
      return `task ${event.task.status.state}${said(event.task.status)}`;
    case 'status':
      return `${event.status.state}${said(event.status)}`;
    case 'artifact': {
      const { artifact, append, lastChunk } = event;
      const marks = [...(append ? ['append'] : []), ...(lastChunk ? ['lastChunk'] : [])];
      const marked = marks.length > 0 ? ` (${marks.join(', ')})` : '';
      return `artifact ${artifact.name ?? artifact.artifactId} ${formatValue(joinTextParts(artifact))}${marked}`;
    }
  }
}

/** What broke a stream, in one line. */
export function formatStreamError(broken: Error): string {
  return `error ${'reason' in broken ? String(broken.reason) : broken.name}: ${broken.message}`;
}

function said({ message }: { readonly message?: { readonly parts: readonly object[] } }): string {
  return message ? ` ${formatValue(joinTextParts(message))}` : '';
}
