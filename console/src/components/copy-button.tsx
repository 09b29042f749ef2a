import { useSignal } from '@preact/signals';
import { Button } from './button.tsx';

/** Copies a text and confirms it. */
export function CopyButton({ text, label = 'Copy' }: { text: string | (() => string); label?: string }) {
  const said = useSignal<string | undefined>(undefined);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === 'string' ? text : text());
      said.value = 'Copied';
    } catch {
      said.value = 'Not allowed';
    }
    setTimeout(() => {
      said.value = undefined;
    }, 1600);
  };
  return (
    <Button small kind="quiet" onClick={() => void copy()} aria-live="polite">
      {said.value ?? label}
    </Button>
  );
}
