import { messages } from './core-messages.ts';
import { tryRows } from './try-rows.ts';

tryRows(messages);
