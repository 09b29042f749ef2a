import type { ComponentChildren } from 'preact';
import './notes.css';

interface EmptyStateProps {
  title: string;
  /** An action that creates content. */
  children?: ComponentChildren;
  actions?: ComponentChildren;
}

/** Placeholder for an empty view, with advice. */
export function EmptyState({ title, children, actions }: EmptyStateProps) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children === undefined ? null : <div>{children}</div>}
      {actions === undefined ? null : <div class="empty-actions">{actions}</div>}
    </div>
  );
}
