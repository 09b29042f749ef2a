import { standard } from './standard.ts';
import { tryRows } from './try-rows.ts';

tryRows(standard);
