import { messages } from './core-messages.ts';
import { testRows } from './test-rows.ts';

testRows(messages);
