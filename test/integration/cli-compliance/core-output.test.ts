import { output } from './core-output.ts';
import { tryRows } from './try-rows.ts';

tryRows(output);
