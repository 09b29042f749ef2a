import { signal } from '@preact/signals';

/** Whether the server lets this page in: `denied` when the token is missing or wrong, `gone` when nobody answers. */
export const accessState = signal<'open' | 'denied' | 'gone'>('open');
