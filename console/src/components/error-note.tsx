import type { ComponentChildren } from 'preact';
import { ApiError } from '../session/api-client.ts';
import './notes.css';

/** An error for display: a reason and a message. */
export interface DisplayError {
  readonly reason: string;
  readonly message: string;
}

/** Converts any thrown value. */
export function toDisplayError(error: unknown): DisplayError {
  if (error instanceof ApiError) return { reason: error.reason, message: error.message };
  return { reason: 'PAGE_ERROR', message: error instanceof Error ? error.message : String(error) };
}

/** Displays an error and announces it to screen readers. */
export function ErrorNote({ error, children }: { error: DisplayError; children?: ComponentChildren }) {
  return (
    <div class="error-note" role="alert">
      <div class="error-note-text">
        <div>{error.message}</div>
        <div class="error-note-reason">{error.reason}</div>
      </div>
      {children}
    </div>
  );
}
