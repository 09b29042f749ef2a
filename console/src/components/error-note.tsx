import type { ComponentChildren } from 'preact';
import { ApiError } from '../session/api-client.ts';
import './notes.css';

/** What went wrong, for people: a reason to search for and a sentence. */
export interface DisplayError {
  readonly reason: string;
  readonly message: string;
}

/** Makes a trouble of whatever was thrown. */
export function toDisplayError(error: unknown): DisplayError {
  if (error instanceof ApiError) return { reason: error.reason, message: error.message };
  return { reason: 'PAGE_ERROR', message: error instanceof Error ? error.message : String(error) };
}

/** Tells of a trouble, aloud too. */
export function ErrorNote({ trouble, children }: { trouble: DisplayError; children?: ComponentChildren }) {
  return (
    <div class="error-note" role="alert">
      <div class="error-note-words">
        <div>{trouble.message}</div>
        <div class="error-note-reason">{trouble.reason}</div>
      </div>
      {children}
    </div>
  );
}
