import { settings } from './core-settings.ts';
import { tryRows } from './try-rows.ts';

tryRows(settings);
