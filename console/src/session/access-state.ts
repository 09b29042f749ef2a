import { signal } from '@preact/signals';

/** Access to the server: `denied` if the token is missing or wrong, `gone` if the server does not respond. */
export const accessState = signal<'open' | 'denied' | 'gone'>('open');
