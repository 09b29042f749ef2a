import { advanced } from './advanced.ts';
import { tryRows } from './try-rows.ts';

tryRows(advanced);
