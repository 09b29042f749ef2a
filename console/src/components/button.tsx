import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';
import './button.css';

/** Visual style of a button: primary, secondary or destructive. */
type ButtonKind = 'plain' | 'main' | 'quiet' | 'danger';

interface ButtonProps extends ButtonHTMLAttributes {
  kind?: ButtonKind;
  small?: boolean;
  children: ComponentChildren;
}

const classOf = (kind: ButtonKind, small: boolean): string =>
  `button button-${kind}${small ? ' button-small' : ''}`;

/** A button; passes all `<button>` attributes through. */
export function Button({ kind = 'plain', small = false, children, ...rest }: ButtonProps) {
  return (
    <button type="button" {...rest} class={classOf(kind, small)}>
      {children}
    </button>
  );
}

interface LinkButtonProps {
  href: string;
  kind?: ButtonKind;
  small?: boolean;
  children: ComponentChildren;
}

/** A link within the page, styled as a button. */
export function LinkButton({ href, kind = 'plain', small = false, children }: LinkButtonProps) {
  return (
    <a href={href} class={classOf(kind, small)}>
      {children}
    </a>
  );
}
