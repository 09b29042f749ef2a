import { useSignal } from '@preact/signals';
import { Button } from './button.tsx';

/** Copies a text and confirms it. */
export function CopyButton({
  text,
  label = 'Copy',
  ...rest
}: {
  text: string | (() => string | Promise<string>);
  label?: string;
  disabled?: boolean;
  title?: string | undefined;
}) {
  const confirmation = useSignal<string | undefined>(undefined);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === 'string' ? text : await text());
      confirmation.value = 'Copied';
    } catch {
      confirmation.value = 'Copy failed';
    }
    setTimeout(() => {
      confirmation.value = undefined;
    }, 1600);
  };
  return (
    <Button small kind="quiet" onClick={() => void copy()} aria-live="polite" {...rest}>
      {confirmation.value ?? label}
    </Button>
  );
}
