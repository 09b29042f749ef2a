import { settings } from './core-settings.ts';
import { testRows } from './test-rows.ts';

testRows(settings);
